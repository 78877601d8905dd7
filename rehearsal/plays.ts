/** Which deployments are rehearsed, and what is played on each: the whole work with bearer tokens, the doors in each mode. */
import type { JsonObject } from '../lib/blueprint/json.ts';
import type { Deployment } from './deploy.ts';
import { bearerPlay } from './plays/bearer.ts';
import { iamPlay } from './plays/iam.ts';
import { oauthPlay } from './plays/oauth.ts';
import type { Scenario } from './stage.ts';

export interface Play {
  name: string;
  /** What the user would write into cdk.json. */
  props: JsonObject;
  /** Before the deployment; answers variables that functions get beside the template's. */
  prepare?(): Promise<Readonly<Record<string, string>>>;
  /** Headers of whoever may do everything; called before the first request. */
  admin(deployment: Deployment): Promise<Record<string, string>>;
  scenarios: readonly Scenario[];
  /** Ends what `prepare` began. */
  end?(): Promise<void>;
}

export const PLAYS: readonly Play[] = [bearerPlay, iamPlay, oauthPlay];
