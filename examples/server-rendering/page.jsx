// What the server renders and the browser hydrates: the bell, and the newest notifications.
import { useInbox } from 'carillon-client/react'
import { useEffect, useRef } from 'react'

export function Page({ carillon }) {
  const { state, items, unread } = useInbox()
  const signOut = async () => {
    await fetch('/sign-out', { method: 'POST' })
    carillon.signOut()
  }
  if (state === 'signed-out') return <SignIn />
  return (
    <>
      <header>
        <Bell carillon={carillon} />
        <button type="button" onClick={signOut}>
          Sign out
        </button>
      </header>
      <main>
        <h1>
          You have <output>{unread}</output> unread notifications
        </h1>
        <ul>
          {items.slice(0, 3).map(({ id, title }) => (
            <li key={id}>{title}</li>
          ))}
        </ul>
      </main>
    </>
  )
}

/** The element is defined in the browser. React sets no properties of elements when it takes over a page, so an effect does. */
function Bell({ carillon }) {
  const bell = useRef(null)
  useEffect(() => {
    bell.current.carillon = carillon
    void import('carillon-inbox')
  }, [carillon])
  return <carillon-bell ref={bell} />
}

export function SignIn() {
  return (
    <form method="post" action="/sign-in">
      <label>
        Name <input name="name" required />
      </label>
      <button type="submit">Sign in</button>
    </form>
  )
}
