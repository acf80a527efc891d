// Passkeys in a page of the service's host, without a library: passkeys.md explains them. A test runs this code in a browser.

// A signed-in user, not more than ten minutes after the sign-in: creates a passkey.
export async function addPasskey(label) {
  const { body } = await post('/api/me/factors/passkeys/options')
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(body.data)
  const credential = await navigator.credentials.create({ publicKey })
  return post('/api/me/factors/passkeys', { label, response: credential.toJSON() })
}

// Anyone: signs in without a username and a password. `wish`: { variant: 'stateless' }, for example.
export async function signInWithPasskey(wish = {}) {
  const { body } = await post('/login/passkey/options', {})
  return post('/login/passkey', { ...wish, response: await passkeyFor(body) })
}

// After a 401 SECOND_FACTOR_REQUIRED: completes that sign-in. `challenge` is its error.challenge.
export async function completeWithPasskey(challenge) {
  const { body } = await post('/login/passkey/options', { challenge })
  return post('/login/second-factor', { challenge, passkey: await passkeyFor(body) })
}

// After a 403 FRESH_SIGN_IN_REQUIRED: makes this sign-in fresh for ten minutes.
export async function confirmWithPasskey() {
  const { body } = await post('/login/passkey/options', {})
  return post('/api/me/confirm', { passkey: await passkeyFor(body) })
}

async function passkeyFor(options) {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options)
  return (await navigator.credentials.get({ publicKey })).toJSON()
}

async function post(path, body) {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(path, {
    method: 'POST',
    headers,
    body: body && JSON.stringify(body),
  })
  return { status: response.status, body: response.status === 204 ? null : await response.json() }
}
