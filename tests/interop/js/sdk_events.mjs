// Emits events that need a microphone, a detector or a debugger to occur. Their values are the
// `sdk_events` of conversation.json. They are emitted in the same way as by the SDK.
import { AgentSession as pb } from '@livekit/protocol';
import { CONVERSATION } from './agent.mjs';

const ms = (seconds) => seconds * 1000;

const EVENTS = {
  user_input_transcribed: (v) => ({
    transcript: v.transcript,
    isFinal: v.is_final,
    language: v.language,
    itemId: null,
    speakerId: null,
    createdAt: ms(v.created_at),
  }),
  agent_false_interruption: (v) => ({ resumed: v.resumed, createdAt: ms(v.created_at) }),
  overlapping_speech: (v) => ({
    isInterruption: v.is_interruption,
    overlapStartedAt: ms(v.overlap_started_at),
    detectedAt: ms(v.detected_at),
    detectionDelayInS: v.detection_delay,
  }),
  amd_prediction: (v) => ({
    category: v.category,
    reason: v.reason,
    transcript: v.transcript,
    speechDurationMs: ms(v.speech_duration),
    delayMs: ms(v.delay),
  }),
  eot_prediction: (v) => ({
    probability: v.probability,
    threshold: v.threshold,
    inferenceDurationMs: ms(v.inference_duration),
    delayMs: ms(v.delay),
    createdAt: ms(v.created_at),
  }),
  debug_message: (v) => pb.DebugMessage.fromJson({ payload: v }),
};

/** Emits the event of an arm. */
export function emitEvent(session, arm) {
  const values = CONVERSATION.sdk_events[arm];
  if (arm === 'user_state_changed') {
    session._updateUserState(values.new_state, { lastSpeakingTime: ms(values.created_at) });
  } else if (arm === 'amd_prediction') {
    session._onAmdPrediction(EVENTS[arm](values));
  } else {
    session.emit(arm, Object.assign(EVENTS[arm](values), arm === 'debug_message' ? {} : { type: arm }));
  }
}
