// The page of a signed-in user. It gives the bell tokens from the application's own server.
document.querySelector('carillon-bell').token = tokenFromServer

/** The bell calls this before a token ends, so it stays live for as long as the user is signed in to the application. */
async function tokenFromServer() {
  const response = await fetch('/bell-token', { method: 'POST' })
  if (!response.ok) throw new Error('You are not signed in')
  const { token } = await response.json()
  return token
}

document.querySelector('#assign').addEventListener('submit', async (event) => {
  event.preventDefault()
  await fetch('/tasks', { method: 'POST', body: new FormData(event.target) })
})
