/**
 * The function URL and who may call it, statement by statement: a URL needs InvokeFunctionUrl and, since October 2025,
 * InvokeFunction by way of the URL alone. Source: Lambda developer guide, "Control access to Lambda function URLs".
 *
 *     bearer, oauth   everyone reaches the function, which decides by the Authorization header before it reads a body
 *     iam             Lambda verifies SigV4; the principals of the prop alone are let in by this policy. Identities of the
 *                     account whose own policies allow it get through as well: the function refuses whom the prop does not name
 *
 * There is no CORS: a browser gets no answer that it would show.
 */
import { CfnPermission, CfnUrl, type IFunction } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import type { EngineProps } from './props.ts';

export class EndpointUrl extends Construct {
  /** `https://ID.lambda-url.REGION.on.aws/`. */
  readonly url: string;

  constructor(scope: Construct, id: string, props: { function: IFunction; auth: EngineProps['auth'] }) {
    super(scope, id);
    const { functionArn } = props.function;
    const authType = props.auth.mode === 'iam' ? 'AWS_IAM' : 'NONE';
    const url = new CfnUrl(this, 'Url', {
      targetFunctionArn: functionArn,
      authType,
      invokeMode: 'RESPONSE_STREAM',
    });
    this.url = url.attrFunctionUrl;
    const principals = props.auth.mode === 'iam' ? Object.keys(props.auth.principals) : ['*'];
    for (const [index, principal] of principals.entries()) {
      new CfnPermission(this, `InvokeUrl${index}`, {
        functionName: functionArn,
        principal,
        action: 'lambda:InvokeFunctionUrl',
        functionUrlAuthType: authType,
      });
      new CfnPermission(this, `InvokeByUrl${index}`, {
        functionName: functionArn,
        principal,
        action: 'lambda:InvokeFunction',
        invokedViaFunctionUrl: true,
      });
    }
  }
}
