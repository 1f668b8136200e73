import type { TalkEntry, ToolUse } from '../llm/talk_context.js';

export enum RobotDialogEventTypes {
  RobotModeChanged = 'robot_mode_changed',
  CallerModeChanged = 'caller_mode_changed',
  CallerSpeechHeard = 'caller_speech_heard',
  TalkEntryAdded = 'talk_entry_added',
  ToolsFinished = 'tools_finished',
  PauseForecast = 'pause_forecast',
  Close = 'close',
}

export type RobotMode = 'idle' | 'listening' | 'speaking';
export type CallerMode = 'listening' | 'away';

export enum EndCause {
  ERROR = 'error',
  CALLER_INITIATED = 'caller_initiated',
}

export type RobotModeChangedEvent = {
  type: 'robot_mode_changed';
  oldMode: RobotMode;
  newMode: RobotMode;
  madeAt: number;
};

export type CallerModeChangedEvent = {
  type: 'caller_mode_changed';
  oldMode: CallerMode;
  newMode: CallerMode;
  madeAt: number;
};

export type CallerSpeechHeardEvent = {
  type: 'caller_speech_heard';
  words: string;
  isFinal: boolean;
  tongue?: string;
  madeAt: number;
};

export type TalkEntryAddedEvent = {
  type: 'talk_entry_added';
  item: TalkEntry;
  madeAt: number;
};

export type ToolsFinishedEvent = {
  type: 'tools_finished';
  toolUses: ToolUse[];
  madeAt: number;
};

export type PauseForecastEvent = {
  type: 'pause_forecast';
  probability: number;
  delayMs: number;
  madeAt: number;
};

export type CloseEvent = {
  type: 'close';
  reason: EndCause;
  message?: string;
  madeAt: number;
};
