// The page: the bell, and a list of its own below it. Both show the same state.
import { useInbox } from 'carillon-client/react'
import { SignIn } from './sign-in.jsx'

const tomorrow = () => new Date(Date.now() + 24 * 3_600_000).toISOString()

export function App({ carillon }) {
  const { state, items, unread, read, archive, snooze } = useInbox()
  /** Opens the link of a notification without loading a page, as a router does. */
  const open = (event) => {
    event.preventDefault()
    void read(event.detail.id)
    history.pushState(null, '', event.detail.url)
  }
  if (state === 'signed-out') return <SignIn carillon={carillon} />
  return (
    <>
      <header>
        <carillon-bell carillon={carillon} oncarillon-open={open} />
        <button type="button" onClick={() => carillon.logout()}>
          Sign out
        </button>
      </header>
      <main>
        <h1>
          You have <output>{unread}</output> unread notifications
        </h1>
        <ul>
          {items.slice(0, 3).map((item) => (
            <li key={item.id}>
              {item.title}
              {!item.read && (
                <button type="button" onClick={() => read(item.id)}>
                  Mark as read
                </button>
              )}
              <button type="button" onClick={() => archive(item.id)}>
                Archive
              </button>
              <button type="button" onClick={() => snooze(item.id, tomorrow())}>
                Snooze
              </button>
            </li>
          ))}
        </ul>
      </main>
    </>
  )
}
