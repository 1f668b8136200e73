export const TOPIC_DIALOG_MESSAGES = 'lk.robot.dialog';
