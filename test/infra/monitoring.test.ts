/** The alarms, and that the dashboard draws the metrics that the functions write. */
import { beforeAll, describe, expect, it } from 'vitest';
import { METRICS, NAMESPACE } from '../../lib/telemetry/metric-names.ts';
import { readable, resource, type Template, templateOf } from './synthesized.ts';

const TOPIC = 'arn:aws:sns:eu-central-1:123456789012:alarms';
let template: Template;
beforeAll(async () => {
  template = await templateOf({ alarmTopicArn: TOPIC, prefix: 'other' });
});

const ownMetric = (MetricName: string, dimension: string, Value: string) => ({
  Namespace: 'McpWorkflowEngine',
  MetricName,
  Dimensions: expect.arrayContaining([
    { Name: 'service', Value: 'other' },
    { Name: dimension, Value },
  ]),
});
const ofFunction = (MetricName: string, id: string) => ({
  Namespace: 'AWS/Lambda',
  MetricName,
  Dimensions: [{ Name: 'FunctionName', Value: `<${id}Function>` }],
});
const sum = { Statistic: 'Sum', Period: 300 };
const ended = (Id: string, status: string) => ({
  Id,
  Label: status,
  ReturnData: false,
  MetricStat: { Metric: ownMetric('Runs', 'status', status), Period: 300, Stat: 'Sum' },
});

describe('alarms', () => {
  const WATCHED = {
    RunsFailed: {
      Metrics: [
        {
          Id: 'expr_1',
          Label: 'failed runs',
          Expression: 'FILL(failed, 0) + FILL(timedOut, 0)',
          ReturnData: true,
        },
        ended('failed', 'FAILED'),
        ended('timedOut', 'TIMED_OUT'),
      ],
    },
    RequestsFailed: { ...ownMetric('Requests', 'outcome', 'failed'), ...sum },
    EndpointErrors: { ...ofFunction('Errors', 'McpEndpoint'), ...sum },
    RunEventsErrors: { ...ofFunction('Errors', 'RunEvents'), ...sum },
    EndpointThrottles: { ...ofFunction('Throttles', 'McpEndpoint'), ...sum },
    CallToolThrottles: { ...ofFunction('Throttles', 'CallTool'), ...sum },
    RunEventsThrottles: { ...ofFunction('Throttles', 'RunEvents'), ...sum },
    EventsFailed: {
      Namespace: 'AWS/SQS',
      MetricName: 'ApproximateNumberOfMessagesVisible',
      Dimensions: [{ Name: 'QueueName', Value: '<RunEventsFailed.QueueName>' }],
      Statistic: 'Maximum',
      Period: 300,
    },
    SchedulesDropped: {
      Namespace: 'AWS/Scheduler',
      MetricName: 'InvocationDroppedCount',
      Dimensions: [{ Name: 'ScheduleGroup', Value: 'other-schedules' }],
      ...sum,
    },
  };

  it.each(Object.entries(WATCHED))('%s', (name, watched) => {
    const alarm = resource(template, 'AWS::CloudWatch::Alarm', `Monitoring${name}`);
    expect(readable(alarm.Properties)).toEqual({
      AlarmName: `other-${name}`,
      AlarmDescription: expect.stringMatching(/./),
      AlarmActions: [TOPIC],
      ComparisonOperator: 'GreaterThanOrEqualToThreshold',
      Threshold: 1,
      EvaluationPeriods: 1,
      TreatMissingData: 'notBreaching',
      ...watched,
    });
  });

  it('are these', () => {
    const names = Object.values(template.Resources)
      .filter(({ Type }) => Type === 'AWS::CloudWatch::Alarm')
      .map(({ Properties }) => Properties.AlarmName);
    expect(names.sort()).toEqual(
      Object.keys(WATCHED)
        .map((name) => `other-${name}`)
        .sort(),
    );
  });
});

describe('the dashboard', () => {
  it('has every metric that the functions write', () => {
    const { Properties } = resource(template, 'AWS::CloudWatch::Dashboard', 'Monitoring');
    expect(readable(Properties.DashboardName)).toBe('other-<Region>');
    const body = JSON.parse(String(readable(Properties.DashboardBody))) as {
      widgets: { properties: unknown }[];
    };
    const text = JSON.stringify(body);
    for (const name of Object.values(METRICS)) expect(text).toContain(name);
    expect(text).toContain(NAMESPACE);
    expect(text).toContain('ExecutionsFailed');
    expect(body.widgets).toHaveLength(12);
  });
});
