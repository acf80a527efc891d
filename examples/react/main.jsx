// Starts the page. The provider gives every component the same client, so all of them share one list and one stream.
import 'carillon-inbox'
import { createCarillon } from 'carillon-client'
import { CarillonProvider } from 'carillon-client/react'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app.jsx'

const carillon = createCarillon({ baseUrl: '/bell/' })

createRoot(document.querySelector('#root')).render(
  <StrictMode>
    <CarillonProvider carillon={carillon}>
      <App carillon={carillon} />
    </CarillonProvider>
  </StrictMode>,
)
