import { EventEmitter } from 'node:events';
import type { TypedEventEmitter as TypedEmitter } from '@parlor/typed-emitter';
import { TalkMessage, type TalkEntry, type ToolUse } from '../llm/talk_context.js';
import {
  RobotDialogEventTypes,
  EndCause,
  type RobotMode,
  type RobotModeChangedEvent,
  type CloseEvent,
  type TalkEntryAddedEvent,
  type PauseForecastEvent,
  type ToolsFinishedEvent,
  type CallerSpeechHeardEvent,
  type CallerMode,
  type CallerModeChangedEvent,
} from './events.js';

export type RobotDialogCallbacks = {
  [RobotDialogEventTypes.RobotModeChanged]: (each: RobotModeChangedEvent) => void;
  [RobotDialogEventTypes.CallerModeChanged]: (each: CallerModeChangedEvent) => void;
  [RobotDialogEventTypes.CallerSpeechHeard]: (each: CallerSpeechHeardEvent) => void;
  [RobotDialogEventTypes.TalkEntryAdded]: (each: TalkEntryAddedEvent) => void;
  [RobotDialogEventTypes.ToolsFinished]: (each: ToolsFinishedEvent) => void;
  [RobotDialogEventTypes.PauseForecast]: (each: PauseForecastEvent) => void;
  [RobotDialogEventTypes.Close]: (each: CloseEvent) => void;
};

export class RobotDialog extends (EventEmitter as new () => TypedEmitter<RobotDialogCallbacks>) {
  private _robotMode: RobotMode = 'idle';
  private _callerMode: CallerMode = 'listening';

  get robotMode(): RobotMode {
    return this._robotMode;
  }

  private updateRobotMode(mode: RobotMode): void {
    const oldMode = this._robotMode;
    this._robotMode = mode;
    this.emit(RobotDialogEventTypes.RobotModeChanged, {
      type: 'robot_mode_changed',
      oldMode,
      newMode: mode,
      madeAt: Date.now(),
    });
  }

  listen(): void {
    this.updateRobotMode('listening');
  }

  speak(): void {
    this.updateRobotMode('speaking');
  }

  private updateCallerMode(away: boolean): void {
    const oldMode = this._callerMode;
    this._callerMode = away ? 'away' : 'listening';
    this.emit(RobotDialogEventTypes.CallerModeChanged, {
      type: 'caller_mode_changed',
      oldMode,
      newMode: this._callerMode,
      madeAt: Date.now(),
    });
  }

  private transcribed(words: string, isFinal: boolean): void {
    this.emit(RobotDialogEventTypes.CallerSpeechHeard, {
      type: 'caller_speech_heard',
      words,
      isFinal,
      madeAt: Date.now(),
    });
    this.added(new TalkMessage('a', 'caller', [words]));
  }

  private said(text: string): void {
    this.added(new TalkMessage('b', 'assistant', [text]));
  }

  private added(item: TalkEntry): void {
    this.emit(RobotDialogEventTypes.TalkEntryAdded, {
      type: 'talk_entry_added',
      item,
      madeAt: Date.now(),
    });
  }

  private executed(toolUses: ToolUse[]): void {
    this.emit(RobotDialogEventTypes.ToolsFinished, {
      type: 'tools_finished',
      toolUses,
      madeAt: Date.now(),
    });
  }

  private predicted(probability: number, delayMs: number): void {
    this.emit(RobotDialogEventTypes.PauseForecast, {
      type: 'pause_forecast',
      probability,
      delayMs,
      madeAt: Date.now(),
    });
  }

  shutdown(): void {
    this.close(EndCause.CALLER_INITIATED);
  }

  private fail(error: Error): void {
    this.close(EndCause.ERROR, error.message);
  }

  private close(reason: EndCause, message?: string): void {
    this.emit(RobotDialogEventTypes.Close, {
      type: 'close',
      reason,
      message,
      madeAt: Date.now(),
    });
  }
}
