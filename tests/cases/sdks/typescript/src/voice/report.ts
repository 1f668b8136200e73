import { RobotDialog as wire } from '@parlor/protocol';
import type { CloseEvent, EndCause } from './events.js';

function causeName(cause: EndCause): string {
  return wire.EndCause[END_CAUSE_VALUES[cause]];
}

export function dialogReport(closed: CloseEvent): Record<string, unknown> {
  return { made_at: closed.madeAt, end_cause: causeName(closed.reason) };
}
