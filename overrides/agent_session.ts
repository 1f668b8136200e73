import { AgentSession as pb } from '@livekit/protocol';

/** A part of a chat message that is not text itself. */
interface Part {
  readonly type: string;
  readonly value?: unknown;
}

/** Returns the texts of a chat message; images and audio are left out, as the contract says. */
export function chatMessageContent(
  parts: readonly (string | Part)[],
): pb.ChatMessage_ChatContent[] {
  return parts
    .map((part) => (typeof part === 'string' ? part : textOf(part)))
    .filter((text) => text !== undefined)
    .map((value) => new pb.ChatMessage_ChatContent({ payload: { case: 'text', value } }));
}

/** Returns instructions as text: those for speech, if they differ from those for text. */
export function agentConfigUpdateInstructions(instructions: string | Part): string {
  if (typeof instructions === 'string') return instructions;
  return textOf(instructions) ?? '';
}

/** Returns the label of an error of the SDK. */
export function agentSessionEventErrorMessage(
  error: { readonly label: string } | null | undefined,
): string {
  return error?.label ?? 'Unknown error';
}

function textOf(part: Part): string | undefined {
  return part.type === 'instructions' && typeof part.value === 'string' ? part.value : undefined;
}
