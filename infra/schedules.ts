/**
 * The Scheduler group that all schedules of the engine are in, and the role that they start machines with. A schedule made by
 * hand belongs into the group too: the role is for no other.
 */
import { Aws } from 'aws-cdk-lib';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { CfnScheduleGroup } from 'aws-cdk-lib/aws-scheduler';
import { Construct } from 'constructs';
import { acknowledgeWildcards } from './acknowledge.ts';
import { type Arns, roleName, scheduleGroupName } from './names.ts';

export class Schedules extends Construct {
  readonly group: CfnScheduleGroup;
  readonly groupName: string;
  readonly role: Role;

  constructor(scope: Construct, id: string, props: { prefix: string; arns: Arns }) {
    super(scope, id);
    const { prefix, arns } = props;
    this.groupName = scheduleGroupName(prefix);
    this.group = new CfnScheduleGroup(this, 'Group', { name: this.groupName });
    // Source: EventBridge Scheduler user guide, "Confused deputy prevention": the source is a group, never a schedule.
    const trust = new ServicePrincipal('scheduler.amazonaws.com', {
      conditions: {
        StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID, 'aws:SourceArn': arns.scheduleGroup },
      },
    });
    this.role = new Role(this, 'Role', {
      roleName: roleName(prefix, 'schedules'),
      description: 'Role by which schedules start state machines of the workflow engine',
      assumedBy: trust,
    });
    this.role.addToPolicy(
      new PolicyStatement({
        sid: 'StartWorkflows',
        actions: ['states:StartExecution'],
        resources: [arns.machines],
      }),
    );
    acknowledgeWildcards(
      this.role,
      'Schedules are made at run time, for versions of machines under the prefix that are published at run time.',
      arns.machines,
    );
  }
}
