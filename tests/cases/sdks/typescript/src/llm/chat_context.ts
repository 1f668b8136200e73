export type ChatRole = 'user' | 'assistant';

export class ChatMessage {
  readonly type = 'message' as const;
  readonly id: string;
  role: ChatRole;
  content: string[];
  interrupted: boolean;
  createdAt: number;

  constructor(id: string, role: ChatRole, content: string[]) {
    this.id = id;
    this.role = role;
    this.content = content;
    this.interrupted = false;
    this.createdAt = Date.now();
  }
}

export class FunctionCall {
  readonly type = 'function_call' as const;
  callId: string;
  name: string;
  args: string;

  constructor(callId: string, name: string, args: string) {
    this.callId = callId;
    this.name = name;
    this.args = args;
  }
}

export type ChatItem = ChatMessage | FunctionCall;
