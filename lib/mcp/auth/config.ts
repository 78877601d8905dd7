/**
 * How agents prove who they are: one of three modes, decided at the deployment. The stack writes it as JSON into `MWE_AUTH`;
 * nothing in it is secret.
 */
import { z } from 'zod';
import { allowEntryFault, MAX_ALLOW_ENTRIES } from '../../blueprint/tool-allow-list.ts';
import { SCOPES, type Scope } from '../../engine/principals.ts';

export interface BearerConfig {
  mode: 'bearer';
  /** The secret with the hashes of tokens (tokens.ts). */
  secretArn: string;
}

export interface IamConfig {
  mode: 'iam';
  /** By the ARN of a role or user. */
  principals: Record<string, { scopes: Scope[]; tools?: string[] }>;
}

export interface OAuthConfig {
  mode: 'oauth';
  /** Exactly as tokens have it in `iss`. */
  issuer: string;
  /** Exactly as tokens have it in `aud`. */
  audience: string;
  /** Absent: found by the issuer's metadata. */
  jwksUri?: string;
  /**
   * Name of the claim with the subject's allow-list of tools: a list, or a text with spaces between entries. Once it is named
   * here, a token without it may use no tool. Absent: tokens carry no list, and every tool is allowed.
   */
  toolsClaim?: string;
}

export type AuthConfig = BearerConfig | IamConfig | OAuthConfig;

/** The configuration is none. The message names the place. */
export class AuthConfigError extends Error {
  override readonly name = 'AuthConfigError';
}

/** arn:PARTITION:iam::ACCOUNT:role/PATH/NAME, or a user's. */
export const IAM_PRINCIPAL =
  /^arn:(aws[a-z-]*):iam::(\d{12}):(role|user)\/((?:[\w+=,.@-]+\/)*)([\w+=,.@-]+)$/;

const LOOPBACK = ['127.0.0.1', 'localhost', '[::1]'];

/** An https URL without user and fragment; plain http on loopback alone, where tests have their issuers. */
export function isTrustworthyUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  if (url.username !== '' || url.password !== '' || url.hash !== '') return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && LOOPBACK.includes(url.hostname));
}

const endpointUrl = z.string().refine(isTrustworthyUrl, 'an https URL without user and fragment is needed');

const allowEntry = z.string().superRefine((entry, context) => {
  const fault = allowEntryFault(entry);
  if (fault !== undefined) context.addIssue({ code: 'custom', message: fault });
});

export const toolsSchema = z.array(allowEntry).max(MAX_ALLOW_ENTRIES);

const schema = z.discriminatedUnion('mode', [
  z.strictObject({ mode: z.literal('bearer'), secretArn: z.string().min(1) }),
  z.strictObject({
    mode: z.literal('iam'),
    principals: z.record(
      z.string().regex(IAM_PRINCIPAL, 'the ARN of a role or a user is needed, without wildcards'),
      z.strictObject({ scopes: z.array(z.enum(SCOPES)), tools: toolsSchema.optional() }),
    ),
  }),
  z.strictObject({
    mode: z.literal('oauth'),
    issuer: endpointUrl.refine((text) => !text.includes('?'), 'an issuer has no query (RFC 8414)'),
    audience: z.string().min(1),
    jwksUri: endpointUrl.optional(),
    toolsClaim: z.string().min(1).max(255).optional(),
  }),
]);

/** Checks a configuration. @throws AuthConfigError */
export function parseAuthConfig(value: unknown): AuthConfig {
  const parsed = schema.safeParse(value);
  // The schema's optional fields may also be undefined; JSON has no such value.
  if (parsed.success) return parsed.data as AuthConfig;
  const faults = parsed.error.issues.map(({ path, message }) => `${['auth', ...path].join('/')}: ${message}`);
  throw new AuthConfigError(faults.join('; '));
}
