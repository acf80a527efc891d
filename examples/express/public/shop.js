// The page of the shop. It gives the bell tokens from the shop's own server.
const bell = document.querySelector('carillon-bell')
bell.token = tokenFromShop

/** The bell calls this before a token ends, so it stays live for as long as the user is signed in to the shop. */
async function tokenFromShop() {
  const response = await fetch('/bell-token', { method: 'POST' })
  if (!response.ok) throw new Error('You are not signed in to the shop')
  const { token } = await response.json()
  return token
}

document.querySelector('#order').addEventListener('click', () => fetch('/orders', { method: 'POST' }))
