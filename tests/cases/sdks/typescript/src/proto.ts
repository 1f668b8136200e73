import { Duration, Timestamp } from '@bufbuild/protobuf';
import { RobotDialog as wire } from '@parlor/protocol';
import { speechText, type TalkEntry } from './llm/talk_context.js';

const ROLE_TABLE: Record<string, wire.TalkRole> = {
  caller: wire.TalkRole.CALLER,
  assistant: wire.TalkRole.ASSISTANT,
};

export function msToTimestamp(ms: number): Timestamp {
  return Timestamp.fromDate(new Date(ms));
}

export function msToDuration(ms: number): Duration {
  return new Duration({ seconds: BigInt(Math.trunc(ms / 1000)), nanos: (ms % 1000) * 1_000_000 });
}

export function packTalkEntry(item: TalkEntry): wire.TalkContext_TalkEntry {
  switch (item.type) {
    case 'message': {
      const content: wire.TalkMessage_TalkContent[] = [];
      for (const c of item.content) {
        content.push(new wire.TalkMessage_TalkContent({ payload: { case: 'text', value: speechText(c) } }));
      }
      const message = new wire.TalkMessage({
        id: item.id,
        role: ROLE_TABLE[item.role],
        content,
        interrupted: item.interrupted,
        madeAt: msToTimestamp(item.madeAt),
      });
      return new wire.TalkContext_TalkEntry({ item: { case: 'message', value: message } });
    }
    case 'tool_use':
      return new wire.TalkContext_TalkEntry({
        item: {
          case: 'toolUse',
          value: new wire.ToolUse({
            useId: item.useId,
            name: item.name,
            arguments: item.args,
          }),
        },
      });
  }
  return new wire.TalkContext_TalkEntry();
}
