/**
 * Loaded into a function's process before its bundle (`--import`): requests to the issuer's name go to the loopback address in
 * `REHEARSAL_ISSUER`. On AWS the name resolves and the issuer has a certificate; here nothing but this differs.
 */
const HOST = 'https://issuer.example';
const target = process.env.REHEARSAL_ISSUER;
const { fetch } = globalThis;

if (target !== undefined) {
  globalThis.fetch = (input, init) => {
    const url = input instanceof Request ? input.url : String(input);
    return url.startsWith(`${HOST}/`) ? fetch(target + url.slice(HOST.length), init) : fetch(input, init);
  };
}
