/** What things are called on one machine. On AWS the stack chooses the names. */
import { LOCAL_ACCOUNT, LOCAL_REGION } from '../store/aws-config.ts';

const functionArn = (name: string): string =>
  `arn:aws:lambda:${LOCAL_REGION}:${LOCAL_ACCOUNT}:function:${name}`;

export const LOCAL_FUNCTIONS = {
  callTool: 'mwe-call-tool',
  runEvents: 'mwe-run-events',
  callToolArn: functionArn('mwe-call-tool'),
  /** Lambda's own maximum. */
  timeoutSeconds: 900,
} as const;

export const LOCAL_TABLE = 'mwe';
export const LOCAL_BUCKET = `mwe-${LOCAL_ACCOUNT}`;
export const LOCAL_MACHINE_PREFIX = 'mwe-';
export const LOCAL_ROLE = `arn:aws:iam::${LOCAL_ACCOUNT}:role/mwe-state-machine`;
export const LOCAL_SCHEDULE_GROUP = 'mwe';
export const LOCAL_SCHEDULE_ROLE = `arn:aws:iam::${LOCAL_ACCOUNT}:role/mwe-schedule`;
