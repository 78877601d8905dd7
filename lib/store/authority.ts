/**
 * Whose a run is, and with which tools it works: two things. `principal.id` is who started it, which ownership and limits go
 * by; `principal.tools` is the allow-list of the authority it works with, which may be another's: of a pinned sub-workflow it
 * is that of whoever pinned it. The record then says in `authority` whose it is.
 */
import type { Principal, RunRecord } from './records.ts';

/** The fields of a run that belongs to `caller` and works with the tools that `authority` may use. */
export function actingWith(
  caller: Principal,
  authority: Principal,
): Pick<RunRecord, 'principal' | 'authority'> {
  const { kind, id, scopes } = caller;
  return {
    principal: { kind, id, scopes, ...(authority.tools === undefined ? {} : { tools: authority.tools }) },
    ...(authority.id === id ? {} : { authority: authority.id }),
  };
}
