import { Duration, Timestamp } from '@bufbuild/protobuf';
import { AgentSession as pb } from '@livekit/protocol';
import type { ChatItem } from './llm/chat_context.js';

const ROLE_MAP: Record<string, pb.ChatRole> = {
  user: pb.ChatRole.USER,
  assistant: pb.ChatRole.ASSISTANT,
};

export function msToTimestamp(ms: number): Timestamp {
  return Timestamp.fromDate(new Date(ms));
}

export function msToDuration(ms: number): Duration {
  return new Duration({ seconds: BigInt(Math.trunc(ms / 1000)), nanos: (ms % 1000) * 1_000_000 });
}

export function encodeChatItem(item: ChatItem): pb.ChatContext_ChatItem {
  switch (item.type) {
    case 'message': {
      const content: pb.ChatMessage_ChatContent[] = [];
      for (const c of item.content) {
        content.push(new pb.ChatMessage_ChatContent({ payload: { case: 'text', value: c } }));
      }
      const message = new pb.ChatMessage({
        id: item.id,
        role: ROLE_MAP[item.role],
        content,
        interrupted: item.interrupted,
        createdAt: msToTimestamp(item.createdAt),
      });
      return new pb.ChatContext_ChatItem({ item: { case: 'message', value: message } });
    }
    case 'function_call':
      return new pb.ChatContext_ChatItem({
        item: {
          case: 'functionCall',
          value: new pb.FunctionCall({
            callId: item.callId,
            name: item.name,
            arguments: item.args,
          }),
        },
      });
  }
}
