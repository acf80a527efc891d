// What the sign-in page displays. Its forms work without a script; pages/sign-in/ adds passkeys and checks the cookies.
import type { Page, View } from '../pages/frame.ts'
import { type Html, html } from '../pages/html.ts'
import type { TextsOf } from '../pages/texts/texts.ts'

export type SignInView = {
  view: View
  texts: TextsOf<'service'>['signIn']
  /** Where the sign-in leads to: for links and for the script. */
  next: string
  /** The application to which it leads, such as `shop.example.org`; undefined for a page of this service. */
  nextHost: string | undefined
  /** The accepted place to return to; it travels with each form. */
  returnTo: string | undefined
  hasPasskeys: boolean
  /** What the reader has just done. */
  done: string
  fault?: string | undefined
}

type Form = {
  username: string
  /** Whether any user can sign in by an e-mail address. */
  takesEmail: boolean
  providers: readonly { name: string; href: string }[]
  hasMail: boolean
}

export function passwordPage(given: SignInView, { username, takesEmail, providers, hasMail }: Form): Page {
  const { view, texts, nextHost, done, fault, hasPasskeys } = given
  // After a failure, the reader corrects the password; a screen reader then reads the sentence with the field.
  const isNamed = username !== ''
  const others = html`${hasPasskeys && html`<p hidden><button type="button" class="whole" data-passkey>${texts.withPasskey}</button></p>\n`}${providers.map(
    ({ name, href }) => html`<p><a class="button whole" href="${href}">${texts.withProvider(name)}</a></p>\n`,
  )}`
  return framed(given, {
    title: texts.title,
    main: html`${nextHost !== undefined && html`<p class="hint">${texts.continueTo(nextHost)}</p>\n`}<p class="done" role="status">${done}</p>${faultOf(fault)}
<form method="post" action="${view.pages}sign-in" id="password-form">
<div class="field"><label for="username">${takesEmail ? texts.username : texts.usernameAlone}</label>
<input id="username" name="username" value="${username}" autocomplete="username" autocapitalize="none" spellcheck="false" required maxlength="256"${!isNamed && html` autofocus`}></div>
<div class="field"><label for="password">${texts.password}</label>
<div class="with-button"><input id="password" name="password" type="password" autocomplete="current-password" required maxlength="256"${fault !== undefined && html` aria-invalid="true" aria-describedby="fault"`}${isNamed && html` autofocus`}>
<button type="button" hidden data-reveal aria-controls="password" aria-label="${texts.showPassword}" data-hide="${texts.hide}" data-hide-label="${texts.hidePassword}">${texts.show}</button></div></div>
${returnToField(given)}<p><button type="submit" class="primary whole">${view.texts.signIn}</button></p>
</form>
${hasMail && html`<p class="centered"><a href="${view.pages}forgot">${texts.forgot}</a></p>\n`}${
  (hasPasskeys || providers.length > 0) &&
  html`<div class="others"${providers.length === 0 && html` hidden`}><p class="or">${texts.or}</p>\n${others}</div>`
}`,
  })
}

/** `factors`: the kinds that complete this sign-in. */
export type SecondStep = { challenge: string; factors: readonly string[]; username: string }

export function secondStepPage(given: SignInView, { challenge, factors, username }: SecondStep): Page {
  const { view, fault, returnTo, hasPasskeys } = given
  const texts = given.texts.second
  const hasCode = factors.includes('totp')
  const usesPasskey = factors.includes('passkey')
  const again = `${view.pages}sign-in${returnTo === undefined ? '' : `?return_to=${encodeURIComponent(returnTo)}`}`
  const hidden = html`<input type="hidden" name="challenge" value="${challenge}"><input type="hidden" name="factors" value="${factors.join(' ')}">
<input type="hidden" name="username" value="${username}">${returnToField(given)}`
  return framed(given, {
    title: texts.title,
    main: html`<p>${username === '' ? texts.introWithoutName : texts.intro(username)}</p>
${faultOf(fault)}
${
  usesPasskey &&
  html`${hasPasskeys && html`<p hidden><button type="button" class="primary whole" data-passkey="${challenge}">${texts.withPasskey}</button></p>\n`}${
    !hasCode && html`<p class="hint" data-without-passkeys>${texts.passkeyNeedsScript}</p>\n`
  }`
}${
  hasCode &&
  html`<form method="post" action="${view.pages}sign-in">
<div class="field"><label for="code">${texts.code}</label>
<input id="code" name="code" inputmode="numeric" autocomplete="one-time-code" required maxlength="64" autofocus aria-describedby="code-hint${fault !== undefined && ' fault'}"${fault !== undefined && html` aria-invalid="true"`}>
<p class="hint" id="code-hint">${texts.codeHint}</p></div>
${hidden}
<p><button type="submit" class="${usesPasskey ? 'whole' : 'primary whole'}">${given.texts.continue}</button></p>
</form>\n`
}<details${!hasCode && html` open`}><summary>${texts.recovery}</summary>
<form method="post" action="${view.pages}sign-in">
<div class="field"><label for="recovery-code">${texts.recoveryCode}</label>
<input id="recovery-code" name="code" autocomplete="off" autocapitalize="none" spellcheck="false" required maxlength="64" aria-describedby="recovery-hint">
<p class="hint" id="recovery-hint">${texts.recoveryHint}</p></div>
${hidden}
<p><button type="submit" class="whole">${given.texts.continue}</button></p>
</form></details>
<p class="centered"><a href="${again}">${texts.startAgain}</a></p>`,
  })
}

export function signedInPage(given: SignInView, user: string): Page {
  const { view, next, nextHost } = given
  const texts = given.texts.signedIn
  return framed(given, {
    title: texts.title,
    main: html`<p>${texts.as(user)}</p>
<p><a class="button primary whole" href="${next}">${nextHost === undefined ? given.texts.continue : texts.continueTo(nextHost)}</a></p>
<form class="sign-out leave" method="post" action="${view.pages}sign-out"><button type="submit" class="whole">${view.texts.signOut}</button></form>`,
  })
}

/** The sentences that the script needs are in the page: it cannot load any without a connection. */
function framed({ view, texts, next }: SignInView, { title, main }: { title: string; main: Html }): Page {
  return {
    title,
    current: 'sign-in',
    scripts: ['page-sign-in.js'],
    styles: ['sign-in.css'],
    main: html`<div id="sign-in" class="card narrow" data-root="${view.root}" data-next="${next}"
data-cookies-blocked="${texts.cookiesBlocked}" data-still-signed-out="${texts.stillSignedOut}" data-no-response="${texts.noResponse}"
data-passkey-not-used="${texts.passkeyNotUsed}" data-passkey-unknown="${texts.passkeyUnknown}" data-passkey-failed="${texts.passkeyFailed}" data-too-late="${texts.failures.UNAUTHORIZED}">
<h1>${title}</h1>
${main}
</div>`,
  }
}

function faultOf(fault = ''): Html {
  return html`<p id="fault" class="fault" role="alert">${fault}</p>`
}

function returnToField({ returnTo }: SignInView): Html {
  return html`${returnTo !== undefined && html`<input type="hidden" name="return_to" value="${returnTo}">`}`
}
