// The page of a signed-in user. It gives the bell tokens from the application's own server.
document.querySelector('carillon-bell').auth = tokenFromServer

/** The bell calls this before a token ends, so it stays live until the user signs out. Null: no user is signed in. */
async function tokenFromServer() {
  const response = await fetch('/bell-token', { method: 'POST' })
  if (response.status === 401) return null
  if (!response.ok) throw new Error(`The token got the status ${response.status}`)
  const { token } = await response.json()
  return token
}

document.querySelector('#sign-out').addEventListener('click', async () => {
  await fetch('/sign-out', { method: 'POST' })
  document.querySelector('carillon-bell').signOut()
})

document.querySelector('#assign').addEventListener('submit', async (event) => {
  event.preventDefault()
  await fetch('/tasks', { method: 'POST', body: new FormData(event.target) })
})
