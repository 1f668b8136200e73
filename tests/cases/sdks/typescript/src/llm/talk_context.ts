export type TalkRole = 'caller' | 'assistant';

export class TalkMessage {
  readonly type = 'message' as const;
  readonly id: string;
  role: TalkRole;
  content: string[];
  interrupted: boolean;
  madeAt: number;

  constructor(id: string, role: TalkRole, content: string[]) {
    this.id = id;
    this.role = role;
    this.content = content;
    this.interrupted = false;
    this.madeAt = Date.now();
  }
}

export class ToolUse {
  readonly type = 'tool_use' as const;
  useId: string;
  name: string;
  args: string;

  constructor(useId: string, name: string, args: string) {
    this.useId = useId;
    this.name = name;
    this.args = args;
  }
}

export type TalkEntry = TalkMessage | ToolUse;
