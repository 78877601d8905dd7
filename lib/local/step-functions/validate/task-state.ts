/** Task: its resource, the arguments of the integrations that this project uses, credentials and time limits. */
import { isJsonObject, type JsonObject } from '../../../blueprint/json.ts';
import { checkType, isExpression, missingFields, seconds } from './fields.ts';
import type { StateCheck } from './surroundings.ts';

/** Integrations whose arguments are known: which may stand, which must. */
const INTEGRATIONS: Readonly<Record<string, { known: readonly string[]; required: string }>> = {
  'lambda:invoke': {
    known: ['FunctionName', 'Payload', 'InvocationType', 'Qualifier', 'ClientContext', 'LogType'],
    required: 'FunctionName',
  },
  'states:startExecution': {
    known: ['StateMachineArn', 'Name', 'Input', 'TraceHeader'],
    required: 'StateMachineArn',
  },
};

export function checkTask(check: StateCheck): void {
  const { state, location, own, type, report } = check;
  missingFields(state, ['Resource'], location, report);
  const { Resource: resource } = state;
  if (resource !== undefined) {
    const place = `${location}/Resource`;
    const parts = typeof resource === 'string' ? resource.split(':') : [];
    if (typeof resource !== 'string') report.schema('Expected value of type String', place);
    else if (parts[0] !== 'arn' || parts.length < 6 || parts.slice(5).join(':') === '') {
      report.schema('Value is not a valid resource ARN', place);
    } else if (type === 'EXPRESS' && /\.(sync(:2)?|waitForTaskToken)$/.test(resource)) {
      report.schema(
        `Express state machine does not support '.${resource.slice(resource.lastIndexOf('.') + 1)}' service integration`,
        place,
      );
    } else if (parts[2] === 'states' && own === 'JSONata') {
      checkArguments(
        check,
        parts
          .slice(5)
          .join(':')
          .replace(/\.(sync(:2)?|waitForTaskToken)$/, ''),
      );
    }
  }
  if (checkType(state, 'Credentials', 'object', location, report) && isJsonObject(state.Credentials)) {
    const key = own === 'JSONPath' && state.Credentials['RoleArn.$'] !== undefined ? 'RoleArn.$' : 'RoleArn';
    required(state.Credentials, key, `${location}/Credentials`, check);
  }
  const options = { expressions: own === 'JSONata' };
  seconds(state, 'TimeoutSeconds', location, report, options);
  seconds(state, 'HeartbeatSeconds', location, report, options);
  const { TimeoutSeconds: timeout, HeartbeatSeconds: heartbeat } = state;
  if (typeof timeout === 'number' && typeof heartbeat === 'number' && heartbeat >= timeout) {
    report.schema(
      'Heartbeat interval must be smaller than the timeout value',
      `${location}/HeartbeatSeconds`,
    );
  }
}

function checkArguments(check: StateCheck, integration: string): void {
  const { state, location, report } = check;
  const known = Object.hasOwn(INTEGRATIONS, integration) ? INTEGRATIONS[integration] : undefined;
  const { Arguments: given = {} } = state;
  const place = `${location}/Arguments`;
  if (known === undefined || isExpression(given)) return;
  if (!isJsonObject(given)) {
    report.schema('Value must be a valid JSONata expression or an object', place);
    return;
  }
  for (const field of Object.keys(given)) {
    if (!known.known.includes(field))
      report.schema(`The field '${field}' is not supported by Step Functions`, place);
  }
  required(given, known.required, place, check);
}

function required(owner: JsonObject, field: string, location: string, { report }: StateCheck): void {
  if (owner[field] === undefined) report.schema(`The field '${field}' is required but was missing`, location);
}
