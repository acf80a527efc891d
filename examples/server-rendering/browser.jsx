// Takes over the page that the server rendered. The list of the server is the first snapshot, so nothing flickers.
import { createCarillon } from 'carillon-client'
import { CarillonProvider } from 'carillon-client/react'
import { hydrateRoot } from 'react-dom/client'
import { Page } from './page.jsx'

const { carillonUrl, initial } = JSON.parse(document.querySelector('#props').textContent)
const carillon = createCarillon({ baseUrl: carillonUrl, auth: tokenFromServer })

/** The client calls this before a token ends, so the page stays live until the user signs out. Null: no user is signed in. */
async function tokenFromServer() {
  const response = await fetch('/bell-token', { method: 'POST' })
  if (response.status === 401) return null
  if (!response.ok) throw new Error(`The token got the status ${response.status}`)
  const { token } = await response.json()
  return token
}

hydrateRoot(
  document.querySelector('#root'),
  <CarillonProvider carillon={carillon} initial={initial}>
    <Page carillon={carillon} />
  </CarillonProvider>,
)
