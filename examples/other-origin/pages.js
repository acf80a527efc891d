// The two pages of the task board. The second one has the bell.
import { html } from 'hono/html'

export const signInPage = page({
  content: html`<form method="post" action="/sign-in">
      <label>Name <input name="name" required></label>
      <button type="submit">Sign in</button>
    </form>`,
})

export const boardPage = (carillonUrl) =>
  page({
    scripts: html`
    <script type="module" src="/board.js"></script>
    <script type="module" src="${carillonUrl}/carillon-inbox.js"></script>
    `,
    content: html`<header>
      <carillon-bell sign-in-url="/"></carillon-bell>
      <button type="button" id="sign-out">Sign out</button>
    </header>
    <form id="assign">
      <label>Owner <input name="owner" required></label>
      <label>Task <input name="title" required></label>
      <button type="submit">Assign</button>
    </form>`,
  })

function page({ scripts = '', content }) {
  return html`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width">
    <title>Tasks</title>
    <link rel="icon" href="data:,">
    ${scripts}
  </head>
  <body>
    <h1>Tasks</h1>
    ${content}
  </body>
</html>`
}
