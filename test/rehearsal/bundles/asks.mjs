/**
 * A function for the tests that asks AWS for what its event says, signed as the SDK signs, without the SDK:
 * `{ "service": "S3", "method": "GET", "path": "/bucket/key", "headers": {}, "body": "" }`.
 */
export const handler = async ({ service, method, path, headers, body }) => {
  const response = await fetch(process.env[`AWS_ENDPOINT_URL_${service}`] + path, {
    method,
    headers: {
      authorization: `AWS4-HMAC-SHA256 Credential=${process.env.AWS_ACCESS_KEY_ID}/20260101/us-east-1/x/aws4_request, SignedHeaders=host, Signature=0`,
      ...headers,
    },
    ...(body === undefined ? {} : { body }),
  });
  return { status: response.status, text: await response.text() };
};
