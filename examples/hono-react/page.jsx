// The page: sign-in of the application, a form that assigns a task, and the bell.
import { useState } from 'react'
import { createRoot } from 'react-dom/client'
import { markAllRead, useInbox } from './use-inbox.js'

const me = await (await fetch('/me')).json()

function Page() {
  const [name, setName] = useState(me?.name ?? '')
  const signIn = async (form) => {
    await post('/sign-in', { name: form.get('name') })
    setName(form.get('name'))
  }
  return name === '' ? <NameForm action={signIn} /> : <Board />
}

function NameForm({ action }) {
  return (
    <form action={action}>
      <label>
        Name <input name="name" required />
      </label>
      <button type="submit">Sign in</button>
    </form>
  )
}

function Board() {
  const assign = (form) => post('/tasks', { owner: form.get('owner'), title: form.get('title') })
  return (
    <main>
      <form action={assign}>
        <label>
          Owner <input name="owner" required />
        </label>
        <label>
          Task <input name="title" required />
        </label>
        <button type="submit">Assign</button>
      </form>
      <Bell />
    </main>
  )
}

function Bell() {
  const { items, unread } = useInbox()
  return (
    <section aria-label="Notifications">
      <h2>
        Notifications, <output>{unread}</output> unread
      </h2>
      <button type="button" onClick={() => markAllRead(items[0]?.seq)}>
        Mark all as read
      </button>
      <ul>
        {items.map(({ id, title, read }) => (
          <li key={id}>{read ? title : <strong>{title}</strong>}</li>
        ))}
      </ul>
    </section>
  )
}

async function post(path, body) {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(path, { method: 'POST', headers, body: JSON.stringify(body) })
  if (!response.ok) throw new Error(`${path}: ${response.status}`)
}

createRoot(document.querySelector('#root')).render(<Page />)
