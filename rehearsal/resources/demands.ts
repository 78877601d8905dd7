/**
 * What AWS asks of a role when a resource that uses it is made, long before the role is used: a right that comes later in the template,
 * because nothing says that it must be there first, makes the deployment fail.
 */
import type { World } from '../world.ts';

/** Throws where the role may not do all of this now. `why`: the sentence that AWS would say. */
export function demand(
  { permissions }: World,
  label: string,
  roleArn: string,
  actions: readonly string[],
  resource: string,
  why: string,
): void {
  for (const action of actions) {
    const needed = { action, resource, context: {} };
    const { outcome } = permissions.decide({ kind: 'aws', arn: roleArn }, needed);
    if (outcome !== 'allowed') {
      throw new Error(
        `${label}: ${why} (${action} on ${resource} is ${outcome} when it is made; does it wait for the policy?)`,
      );
    }
  }
}

/** Source: Step Functions developer guide, "Using CloudWatch Logs to log execution history", "IAM policies". */
export const LOG_DELIVERY = [
  'logs:CreateLogDelivery',
  'logs:GetLogDelivery',
  'logs:UpdateLogDelivery',
  'logs:DeleteLogDelivery',
  'logs:ListLogDeliveries',
  'logs:PutResourcePolicy',
  'logs:DescribeResourcePolicies',
  'logs:DescribeLogGroups',
] as const;
