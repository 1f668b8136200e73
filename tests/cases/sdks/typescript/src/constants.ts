export const TOPIC_SESSION_MESSAGES = 'lk.agent.session';
