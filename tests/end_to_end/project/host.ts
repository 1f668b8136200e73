// A user's host and driver, complete for the contract before its last arm. Each list is checked to
// have an entry for each arm, method, field or value, and each comment with a plus is where the
// entry of an edit belongs.
import * as pb from './messages/index.js';
import * as protocol from './generated/index.js';

export class Host implements protocol.SessionRequestHandler {
  ping() {
    return {};
  }
  getChatHistory() {
    return {};
  }
  runInput() {
    return {};
  }
  getAgentInfo() {
    return {};
  }
  getSessionState() {
    return protocol.encodeSessionResponseGetSessionStateResponse({
      agentState: 'idle',
      userState: 'away',
      agentId: 'clerk',
      options: {},
      createdAt: 0,
      // + a field
    });
  }
  getRtcStats() {
    return {};
  }
  getSessionUsage() {
    return {};
  }
  getFrameworkInfo() {
    return {};
  }
  updateIo() {
    return {};
  }
  finalizeSimulation() {
    return {};
  }
  // + a request's method
}

export const forwarders: protocol.AgentSessionEventForwarders = {
  agentStateChanged: null,
  userStateChanged: null,
  conversationItemAdded: null,
  userInputTranscribed: null,
  functionToolsExecuted: null,
  error: null,
  overlappingSpeech: null,
  sessionUsageUpdated: null,
  amdPrediction: null,
  eotPrediction: null,
  functionToolsStarted: null,
  debugMessage: null,
  toolExecutionUpdated: null,
  agentFalseInterruption: null,
  // + an event's forwarder
};

export const updates: Record<protocol.AgentSessionEventToolExecutionUpdatedArm, string> = {
  started: 'started',
  callUpdated: 'reported',
  replyUpdated: 'voiced',
  ended: 'ended',
  // + an update's text
};

export const reasons: Record<pb.CloseReason, string> = {
  [pb.CloseReason.CR_UNKNOWN]: 'unknown',
  [pb.CloseReason.CR_ERROR]: 'error',
  [pb.CloseReason.CR_JOB_SHUTDOWN]: 'job',
  [pb.CloseReason.CR_PARTICIPANT_DISCONNECTED]: 'participant',
  [pb.CloseReason.CR_USER_INITIATED]: 'user',
  [pb.CloseReason.CR_COMPLETED]: 'completed',
  // + a value's text
};

export const host = new Host();
