import { RobotDialog as wire } from '@parlor/protocol';
import type { TypedEventEmitter } from '@parlor/typed-emitter';
import EventEmitter from 'events';
import { TOPIC_DIALOG_MESSAGES } from '../constants.js';
import type { TalkEntry, ToolUse as FCItem } from '../llm/talk_context.js';
import { packTalkEntry, msToDuration, msToTimestamp } from '../proto.js';
import { shortuuid } from '../utils.js';
import type { RobotDialog } from './robot_dialog.js';
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

export type DialogDriverCallbacks = {
  robot_mode_changed: (each: wire.RobotDialogEvent) => void;
  caller_mode_changed: (each: wire.RobotDialogEvent) => void;
  caller_speech_heard: (each: wire.RobotDialogEvent) => void;
  talk_entry_added: (each: wire.RobotDialogEvent) => void;
  tools_finished: (each: wire.RobotDialogEvent) => void;
  pause_forecast: (each: wire.RobotDialogEvent) => void;
  dialog_closed: (each: wire.RobotDialogEvent) => void;
};

const TCP_MAX_MESSAGE_SIZE = 1 << 20;

const ROBOT_MODE_TABLE: Record<RobotMode, wire.RobotMode> = {
  idle: wire.RobotMode.AS_IDLE,
  listening: wire.RobotMode.AS_LISTENING,
  speaking: wire.RobotMode.AS_SPEAKING,
};

const CALLER_MODE_TABLE: Record<CallerMode, wire.CallerMode> = {
  listening: wire.CallerMode.US_LISTENING,
  away: wire.CallerMode.US_AWAY,
};

const END_CAUSE_TABLE: Record<EndCause, wire.EndCause> = {
  [EndCause.ERROR]: wire.EndCause.CR_ERROR,
  [EndCause.CALLER_INITIATED]: wire.EndCause.CR_CALLER_INITIATED,
};

function talkEntrysToProto(items: TalkEntry[]): wire.TalkContext_TalkEntry[] {
  return items.map(packTalkEntry);
}

function protoSpellOptions(options_given: {
  maxToolSteps?: number;
  callerAwayTimeout?: number;
}): Record<string, string> {
  return {
    max_tool_steps: String(options_given.maxToolSteps ?? 0),
    caller_away_timeout: String(options_given.callerAwayTimeout ?? ''),
  };
}

export class DialogHost {
  private dialog: RobotDialog | undefined;

  constructor(private readonly link: DialogLink) {}

  watchDialog(dialog: RobotDialog): void {
    this.dialog = dialog;
    dialog.on(RobotDialogEventTypes.RobotModeChanged, this.onRobotModeChanged);
    dialog.on(RobotDialogEventTypes.CallerModeChanged, this.onCallerModeChanged);
    dialog.on(RobotDialogEventTypes.CallerSpeechHeard, this.onCallerSpeechHeard);
    dialog.on(RobotDialogEventTypes.TalkEntryAdded, this.onTalkEntryAdded);
    dialog.on(RobotDialogEventTypes.ToolsFinished, this.onToolsFinished);
    dialog.on(RobotDialogEventTypes.PauseForecast, this.onPauseForecast);
    dialog.on(RobotDialogEventTypes.Close, this.onClose);
  }

  private async readAll(): Promise<void> {
    for await (const incoming of this.link) {
      switch (incoming.message.case) {
        case 'request':
          await this.treatRequestSafe(incoming.message.value);
          break;
      }
    }
  }

  private emitEvent<Event extends wire.RobotDialogEvent['event']>(
    event: Event,
    madeAt: number,
  ): void {
    const value = new wire.RobotDialogEvent({ madeAt: msToTimestamp(madeAt), event });
    this.link.sendMessage(
      new wire.RobotDialogMessage({ message: { case: 'event', value } }),
    );
  }

  private onRobotModeChanged = (event: RobotModeChangedEvent): void => {
    this.emitEvent(
      {
        case: 'robotModeChanged',
        value: new wire.RobotDialogEvent_RobotModeChanged({
          oldMode: ROBOT_MODE_TABLE[event.oldMode],
          newMode: ROBOT_MODE_TABLE[event.newMode],
        }),
      },
      event.madeAt,
    );
  };

  private onCallerModeChanged = (event: CallerModeChangedEvent): void => {
    this.emitEvent(
      {
        case: 'callerModeChanged',
        value: new wire.RobotDialogEvent_CallerModeChanged({
          oldMode: CALLER_MODE_TABLE[event.oldMode],
          newMode: CALLER_MODE_TABLE[event.newMode],
        }),
      },
      event.madeAt,
    );
  };

  private onCallerSpeechHeard = (event: CallerSpeechHeardEvent): void => {
    this.emitEvent(
      {
        case: 'callerSpeechHeard',
        value: new wire.RobotDialogEvent_CallerSpeechHeard({
          words: event.words,
          isFinal: event.isFinal,
          tongue: event.tongue,
        }),
      },
      event.madeAt,
    );
  };

  private onTalkEntryAdded = (event: TalkEntryAddedEvent): void => {
    this.emitEvent(
      {
        case: 'talkEntryAdded',
        value: new wire.RobotDialogEvent_TalkEntryAdded({
          item: packTalkEntry(event.item),
        }),
      },
      event.madeAt,
    );
  };

  private onToolsFinished = (event: ToolsFinishedEvent): void => {
    const toolUses = event.toolUses.map(
      (use: FCItem) => new wire.ToolUse({ name: use.name, arguments: use.args, useId: use.useId }),
    );
    this.emitEvent(
      {
        case: 'toolsFinished',
        value: new wire.RobotDialogEvent_ToolsFinished({ toolUses }),
      },
      event.madeAt,
    );
  };

  private onPauseForecast = (event: PauseForecastEvent): void => {
    this.emitEvent(
      {
        case: 'pauseForecast',
        value: new wire.RobotDialogEvent_PauseForecast({
          probability: event.probability,
          delay: msToDuration(event.delayMs),
        }),
      },
      event.madeAt,
    );
  };

  private onClose = (event: CloseEvent): void => {
    this.emitEvent(
      {
        case: 'dialogClosed',
        value: new wire.RobotDialogEvent_DialogClosed({
          reason: END_CAUSE_TABLE[event.reason] ?? wire.EndCause.CR_UNKNOWN,
          message: event.message,
        }),
      },
      event.madeAt,
    );
  };

  private async treatRequestSafe(asked: wire.DialogRequest): Promise<void> {
    try {
      await this.treatRequest(asked);
    } catch (e) {
      await this.sendError(asked.requestId, 'internal error');
    }
  }

  private async sendError(requestId: string, error: string): Promise<void> {
    const value = new wire.DialogResponse({ requestId, error });
    await this.link.sendMessage(
      new wire.RobotDialogMessage({ message: { case: 'response', value } }),
    );
  }

  private async treatRequest(asked: wire.DialogRequest): Promise<void> {
    switch (asked.request.case) {
      case 'ping':
        return this.sendResponse(asked.requestId, {
          case: 'pong',
          value: new wire.DialogResponse_Pong(),
        });
      case 'getTalkLog':
        return this.treatGetTalkLog(asked.requestId);
      case 'getDialogMode':
        return this.treatGetDialogMode(asked.requestId);
      case 'sayLine':
        return this.treatSayLine(asked.requestId, asked.request.value);
      case 'setDevices':
        return this.treatUpdateIo(asked.requestId, asked.request.value);
      default:
        return this.sendError(asked.requestId, 'unknown request');
    }
  }

  private async treatGetTalkLog(requestId: string): Promise<void> {
    const items = talkEntrysToProto(this.dialog!.history.items);
    return this.sendResponse(requestId, {
      case: 'getTalkLog',
      value: new wire.DialogResponse_GetTalkLogResponse({ items }),
    });
  }

  private async treatGetDialogMode(requestId: string): Promise<void> {
    return this.sendResponse(requestId, {
      case: 'getDialogMode',
      value: new wire.DialogResponse_GetDialogModeResponse({
        robotMode: ROBOT_MODE_TABLE[this.dialog!.robotMode],
        robotId: this.dialog!.currentRobot.id,
        options: protoSpellOptions(this.dialog!.options),
      }),
    });
  }

  private async treatSayLine(
    requestId: string,
    input: wire.DialogRequest_SayLine,
  ): Promise<void> {
    const text = input.text;
    let items: wire.TalkContext_TalkEntry[] = [];
    let error: string | undefined;
    if (!text) {
      error = 'empty say_line text';
    } else {
      const result = await this.dialog!.run({ callerLine: text });
      items = talkEntrysToProto(result.events.map((each) => each.item));
    }
    return this.sendResponse(
      requestId,
      { case: 'sayLine', value: new wire.DialogResponse_SayLineResponse({ items }) },
      error,
    );
  }

  private async treatUpdateIo(
    requestId: string,
    update: wire.DialogRequest_SetDevices,
  ): Promise<void> {
    if (update.input?.audioEnabled !== undefined) {
      this.dialog!.input.setAudioEnabled(update.input.audioEnabled);
    }
    return this.sendResponse(requestId, {
      case: 'setDevices',
      value: new wire.DialogResponse_SetDevicesResponse(),
    });
  }

  private async sendResponse(
    requestId: string,
    response: wire.DialogResponse['response'],
    error?: string,
  ): Promise<void> {
    const value = new wire.DialogResponse({ requestId, response, error });
    await this.link.sendMessage(
      new wire.RobotDialogMessage({ message: { case: 'response', value } }),
    );
  }
}

export class DialogDriver extends (EventEmitter as new () => TypedEventEmitter<DialogDriverCallbacks>) {
  constructor(private readonly link: DialogLink) {
    super();
  }

  private async readAll(): Promise<void> {
    for await (const incoming of this.link) {
      switch (incoming.message.case) {
        case 'event':
          this.routeEvent(incoming.message.value);
          break;
        case 'response':
          this.routeResponse(incoming.message.value);
          break;
      }
    }
  }

  private routeEvent(event: wire.RobotDialogEvent): void {
    const each = event.event;
    switch (each.case) {
      case 'robotModeChanged':
        this.emit('robot_mode_changed', event);
        break;
      case 'callerModeChanged':
        this.emit('caller_mode_changed', event);
        break;
      case 'callerSpeechHeard':
        this.emit('caller_speech_heard', event);
        break;
      case 'talkEntryAdded':
        this.emit('talk_entry_added', event);
        break;
      case 'toolsFinished':
        this.emit('tools_finished', event);
        break;
      case 'pauseForecast':
        this.emit('pause_forecast', event);
        break;
      case 'dialogClosed':
        this.emit('dialog_closed', event);
        break;
    }
  }

  private async sendRequest(
    request: wire.DialogRequest['request'],
    timeout = 60000,
  ): Promise<wire.DialogResponse> {
    const value = new wire.DialogRequest({ requestId: shortuuid('req_'), request });
    await this.link.sendMessage(
      new wire.RobotDialogMessage({ message: { case: 'request', value } }),
    );
    return await this.answer(value.requestId, timeout);
  }

  async ping(): Promise<void> {
    await this.sendRequest({ case: 'ping', value: new wire.DialogRequest_Ping() });
  }

  async fetchTalkLog(): Promise<wire.DialogResponse> {
    return this.sendRequest({
      case: 'getTalkLog',
      value: new wire.DialogRequest_GetTalkLog(),
    });
  }

  async fetchDialogMode(): Promise<wire.DialogResponse> {
    return this.sendRequest({
      case: 'getDialogMode',
      value: new wire.DialogRequest_GetDialogMode(),
    });
  }

  async sendMessage(text: string): Promise<wire.DialogResponse> {
    return this.sendRequest({
      case: 'sayLine',
      value: new wire.DialogRequest_SayLine({ text }),
    });
  }

  async setDevices(audioEnabled: boolean): Promise<void> {
    const input = new wire.DialogRequest_SetDevices_Input({ audioEnabled });
    await this.sendRequest({
      case: 'setDevices',
      value: new wire.DialogRequest_SetDevices({ input }),
    });
  }
}
