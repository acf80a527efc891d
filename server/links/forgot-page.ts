// What the page for a forgotten password displays: its form, that a mail may be on its way, or whom to ask without mail.
import type { Page, View } from '../pages/frame.ts'
import { type Html, html } from '../pages/html.ts'
import type { TextsOf } from '../pages/texts/texts.ts'

type Given = { view: View; texts: TextsOf<'service'>['signIn']['forgotten'] }

export function forgotPage(given: Given, fault = ''): Page {
  const { view, texts } = given
  return framed(
    given,
    texts.title,
    html`<p>${texts.intro}</p>
<form method="post" action="${view.pages}forgot">
<p id="fault" class="fault" role="alert">${fault}</p>
<div class="field"><label for="account">${texts.label}</label>
<input id="account" name="account" autocomplete="username" autocapitalize="none" spellcheck="false" required maxlength="254" autofocus${fault !== '' && html` aria-invalid="true" aria-describedby="fault"`}></div>
<p><button type="submit" class="primary whole">${texts.submit}</button></p>
</form>`,
  )
}

export function sentPage(given: Given): Page {
  const { texts } = given
  return framed(given, texts.sentTitle, html`<p role="status">${texts.sent}</p>\n<p class="hint">${texts.notSent}</p>`)
}

export function withoutMailPage(given: Given): Page {
  return framed(given, given.texts.title, html`<p>${given.texts.noMail}</p>`)
}

function framed({ view, texts }: Given, title: string, main: Html): Page {
  return {
    title,
    styles: ['sign-in.css'],
    main: html`<div class="card narrow">
<h1>${title}</h1>
${main}
<p class="centered"><a href="${view.pages}sign-in">${texts.back}</a></p>
</div>`,
  }
}
