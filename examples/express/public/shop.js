// The page of the shop. It gives the bell tokens from the shop's own server.
const bell = document.querySelector('carillon-bell')
bell.auth = tokenFromShop
bell.signInUrl = '/'

/** The bell calls this before a token ends, so it stays live until the user signs out of the shop. Null: no user is signed in. */
async function tokenFromShop() {
  const response = await fetch('/bell-token', { method: 'POST' })
  if (response.status === 401) return null
  if (!response.ok) throw new Error(`The token got the status ${response.status}`)
  const { token } = await response.json()
  return token
}

document
  .querySelector('#order')
  .addEventListener('click', () => fetch('/orders', { method: 'POST' }))

async function signOut() {
  await fetch('/sign-out', { method: 'POST' })
  bell.signOut()
}

document.querySelector('#sign-out').addEventListener('click', signOut)
