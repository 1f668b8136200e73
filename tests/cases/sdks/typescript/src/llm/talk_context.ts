export type TalkRole = 'caller' | 'assistant';

export class Speech {
  private readonly spoken: string;
  readonly notes: string;

  constructor(options: { words: string; notes?: string }) {
    this.spoken = options.words;
    this.notes = options.notes ?? '';
  }

  whole(): string {
    return `${this.spoken} ${this.notes}`;
  }

  toString(): string {
    return this.spoken;
  }
}

export function speechText(speech: Speech, notes?: 'none'): string {
  return notes === undefined ? speech.whole() : speech.toString();
}

export class TalkMessage {
  readonly type = 'message' as const;
  readonly id: string;
  role: TalkRole;
  content: Speech[];
  interrupted: boolean;
  madeAt: number;

  constructor(id: string, role: TalkRole, content: Speech[]) {
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
