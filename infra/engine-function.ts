/**
 * What the three functions have in common: arm64, the newest Node that Lambda runs, an ESM bundle, logs as JSON in a group of their
 * own with an end, X-Ray, and a role that may write these logs and traces and nothing else until its construct says more.
 */
import { type Duration, RemovalPolicy } from 'aws-cdk-lib';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import {
  Architecture,
  type CfnFunction,
  Code,
  Function as LambdaFunction,
  LoggingFormat,
  Runtime,
} from 'aws-cdk-lib/aws-lambda';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { acknowledgeWildcards } from './acknowledge.ts';
import { type FunctionName, functionName } from './names.ts';
import type { FunctionProps } from './props.ts';

/** What is the same for all three functions. */
export interface FunctionSetting {
  prefix: string;
  logRetentionDays: number;
  tracing: boolean;
  /** Variables that every function has. */
  environment: Record<string, string>;
}

export interface EngineFunctionProps {
  setting: FunctionSetting;
  name: FunctionName;
  description: string;
  /** Folder of the asset, with index.mjs in it. */
  asset: string;
  size: FunctionProps;
  timeout: Duration;
  environment: Record<string, string>;
}

export class EngineFunction extends Construct {
  readonly role: Role;
  readonly function: LambdaFunction;

  constructor(scope: Construct, id: string, props: EngineFunctionProps) {
    super(scope, id);
    const { setting, name, size } = props;
    const fullName = functionName(setting.prefix, name);
    const logGroup = new LogGroup(this, 'Logs', {
      logGroupName: `/aws/lambda/${fullName}`,
      retention: setting.logRetentionDays,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    this.role = new Role(this, 'Role', {
      description: `Execution role of ${fullName}`,
      assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
    });
    // Not CreateLogGroup: the group is ours, and a function must not make one without an end.
    this.allow('WriteLogs', ['logs:CreateLogStream', 'logs:PutLogEvents'], logGroup.logGroupArn);
    this.function = new LambdaFunction(this, 'Function', {
      functionName: fullName,
      description: props.description,
      architecture: Architecture.ARM_64,
      runtime: Runtime.NODEJS_24_X,
      handler: 'index.handler',
      code: Code.fromAsset(props.asset),
      role: this.role,
      memorySize: size.memoryMb,
      timeout: props.timeout,
      ...(size.reservedConcurrency === undefined
        ? {}
        : { reservedConcurrentExecutions: size.reservedConcurrency }),
      logGroup,
      loggingFormat: LoggingFormat.JSON,
      environment: {
        // The dimension `service` of the metrics, and of the log's lines: which deployment they are of.
        POWERTOOLS_SERVICE_NAME: setting.prefix,
        ...setting.environment,
        ...props.environment,
      },
    });
    if (setting.tracing) {
      this.resource.tracingConfig = { mode: 'Active' };
      this.allow('Trace', ['xray:PutTraceSegments', 'xray:PutTelemetryRecords'], '*');
      acknowledgeWildcards(this.role, 'The actions of X-Ray know no resources.', '*');
    }
  }

  get resource(): CfnFunction {
    // The L2 function always has its L1 as default child.
    return this.function.node.defaultChild as CfnFunction;
  }

  allow(sid: string, actions: string[], ...resources: string[]): void {
    this.role.addToPolicy(new PolicyStatement({ sid, actions, resources }));
  }

  /** Lets the function hand a role to one service, and to no other. */
  allowPassRole(sid: string, roleArn: string, service: string): void {
    this.role.addToPolicy(
      new PolicyStatement({
        sid,
        actions: ['iam:PassRole'],
        resources: [roleArn],
        conditions: { StringEquals: { 'iam:PassedToService': service } },
      }),
    );
  }
}
