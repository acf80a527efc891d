// The page of the shop. `bell.js` is what a page needs for the inbox.
import { followInbox, markAllRead } from './bell.js'

/** Of the newest notification on the screen. */
let highestSeq

const [form, main] = document.querySelectorAll('#sign-in, main')

form.addEventListener('submit', async (event) => {
  event.preventDefault()
  await post('/sign-in', { name: form.name.value })
  await showShop()
})
document.querySelector('#order').addEventListener('click', () => post('/orders', { item: 'Tea' }))
document.querySelector('#read-all').addEventListener('click', () => markAllRead(highestSeq))

const me = await (await fetch('/me')).json()
if (me) await showShop()
else form.hidden = false

async function showShop() {
  form.hidden = true
  main.hidden = false
  await followInbox(show)
}

function show({ items, unread }) {
  highestSeq = items[0]?.seq
  document.querySelector('#unread').value = unread
  document.querySelector('#notifications').replaceChildren(
    ...items.map(({ title, read }) => {
      const item = document.createElement('li')
      item.textContent = title
      item.style.fontWeight = read ? 'normal' : 'bold'
      return item
    }),
  )
}

async function post(path, body) {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(path, { method: 'POST', headers, body: JSON.stringify(body) })
  if (!response.ok) throw new Error(`${path}: ${response.status}`)
}
