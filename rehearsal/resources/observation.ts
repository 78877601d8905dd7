/** What people look at: it takes no part in what is rehearsed, and is known here by name and ARN alone. */
import { LOCAL_ACCOUNT, LOCAL_REGION } from '../../lib/store/aws-config.ts';
import type { Maker } from '../world.ts';
import { optionalText } from './properties.ts';

const logGroup: Maker = (world, resource) => {
  const name = optionalText(resource, 'LogGroupName') ?? world.template.physicalName(resource.logicalId);
  return {
    ref: name,
    attributes: { Arn: `arn:aws:logs:${LOCAL_REGION}:${LOCAL_ACCOUNT}:log-group:${name}:*` },
  };
};

const named =
  (kind: string, property: string): Maker =>
  (world, resource) => {
    const name = optionalText(resource, property) ?? world.template.physicalName(resource.logicalId);
    return {
      ref: name,
      attributes: { Arn: `arn:aws:cloudwatch:${LOCAL_REGION}:${LOCAL_ACCOUNT}:${kind}:${name}` },
    };
  };

export const OBSERVATION: Readonly<Record<string, Maker>> = {
  'AWS::Logs::LogGroup': logGroup,
  'AWS::Logs::MetricFilter': named('metric-filter', 'FilterName'),
  'AWS::CloudWatch::Alarm': named('alarm', 'AlarmName'),
  'AWS::CloudWatch::CompositeAlarm': named('alarm', 'AlarmName'),
  'AWS::CloudWatch::Dashboard': named('dashboard', 'DashboardName'),
};
