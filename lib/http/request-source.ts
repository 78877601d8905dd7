/**
 * Where a request may come from, from its headers alone. One set of rules for every listener, the loopback ones and the
 * deployed endpoint: a web page that somebody has open can send requests anywhere its browser reaches, and a name of its own
 * can be made to resolve there.
 */

/** Headers as they came; several of one name joined by commas, which no rule accepts. */
export interface RequestSource {
  host: string | undefined;
  origin: string | undefined;
  /** `Sec-Fetch-Site`. */
  fetchSite: string | undefined;
}

export interface AllowedSources {
  /** Values of Host, lower case, with the port where a client writes one. */
  hosts: readonly string[];
  /** Values of Origin. */
  origins: readonly string[];
}

/** Why the request is refused, in a sentence; undefined: it may come in. */
export function sourceFault(source: RequestSource, allowed: AllowedSources): string | undefined {
  if (source.host === undefined || !allowed.hosts.includes(source.host.toLowerCase())) {
    return 'The Host header is not an address of this server.';
  }
  if (source.origin !== undefined && !allowed.origins.includes(source.origin)) {
    return 'This Origin is not allowed.';
  }
  // A header sent twice arrives as `cross-site, same-origin`; any mention counts.
  if (source.fetchSite?.toLowerCase().includes('cross-site') === true) {
    return 'Cross-site requests are not allowed.';
  }
  return undefined;
}
