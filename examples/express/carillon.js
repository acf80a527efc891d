// The application's requests to Carillon, with a key that has the scopes `send` and `users`. The key stays on the server.
const { CARILLON_URL = 'http://127.0.0.1:7464', CARILLON_PRODUCER_KEY = '' } = process.env

export async function carillon(method, path, body) {
  const response = await fetch(CARILLON_URL + path, {
    method,
    headers: { authorization: `Bearer ${CARILLON_PRODUCER_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const { data, error } = await response.json()
  if (error) throw new Error(`${method} ${path}: ${error.code} ${error.message}`)
  return data
}

/** The application's own id of a user names the user in Carillon too. It may contain any character, such as a slash. */
export function userPath(id) {
  return `/api/users/external/${encodeURIComponent(id)}`
}
