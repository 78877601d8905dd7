/**
 * AWS clients whose code is loaded by their first request. A function that starts must not wait for services that this
 * request does not ask: S3's client alone takes longer to load than a record to read.
 */

/** What the engine uses of a client. */
export type Sender<Client extends { send: unknown; destroy(): void }> = Pick<Client, 'send' | 'destroy'>;

/** A client that `load` makes when it is first asked something. A load that failed is tried again by the next request. */
export function lazyClient<Client extends { send(...args: never[]): unknown; destroy(): void }>(
  load: () => Promise<Client>,
): Sender<Client> {
  let client: Promise<Client> | undefined;
  let destroyed = false;
  const loaded = (): Promise<Client> => {
    client ??= load().catch((error: unknown) => {
      client = undefined;
      throw error;
    });
    return client;
  };
  return {
    // It has the overloads of the client's own, which gets the arguments as they are.
    send: (async (...args: never[]) => (await loaded()).send(...args)) as Client['send'],
    destroy() {
      if (!destroyed) void client?.then((made) => made.destroy()).catch(() => undefined);
      destroyed = true;
    },
  };
}
