// A service of your own that knows who calls by Carillon's access tokens, without a request to Carillon for each call: it
// fetches the public keys once and checks the signature itself (RFC 9068).
import { createServer } from 'node:http'
import { createRemoteJWKSet, jwtVerify } from 'jose'

/** The public URL of Carillon, without a slash at its end: `iss` and `aud` of its tokens. */
const { CARILLON_URL = 'http://127.0.0.1:7464', PORT = '3001' } = process.env
const keys = createRemoteJWKSet(new URL(`${CARILLON_URL}/.well-known/jwks.json`))

/** The claims of a valid token. Throws for every other one. */
async function claimsOf(authorization = '') {
  const [, token = ''] = /^Bearer ([\w.-]+)$/i.exec(authorization) ?? []
  const { payload } = await jwtVerify(token, keys, {
    issuer: CARILLON_URL,
    audience: CARILLON_URL,
    algorithms: ['EdDSA'],
    typ: 'at+jwt',
  })
  // A token with a scope is for Carillon's inbox, and lies in a page: it is no proof for anything else.
  if (payload.scope !== undefined) throw new Error('The token is for the inbox only')
  return payload
}

const server = createServer(async ({ headers }, response) => {
  try {
    const { sub, preferred_username: name } = await claimsOf(headers.authorization)
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ userId: sub, name }))
  } catch {
    response.writeHead(401, { 'www-authenticate': 'Bearer error="invalid_token"' }).end()
  }
})
server.listen(Number(PORT), '127.0.0.1', () =>
  console.log(`http://127.0.0.1:${server.address().port}`),
)
