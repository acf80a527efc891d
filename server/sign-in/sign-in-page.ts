// The page's forms work without scripts; pages/sign-in/ adds passkeys and checks cookies.
import type { Page, View } from '../pages/frame.ts'
import { type Html, html } from '../pages/html.ts'
import type { TextsOf } from '../pages/texts/texts.ts'

export type SignInView = {
  view: View
  texts: TextsOf<'service'>['signIn']
  next: string
  /** Undefined for a page of this service. */
  nextHost: string | undefined
  returnTo: string | undefined
  hasPasskeys: boolean
  done: string
  fault?: string | undefined
}

type Form = {
  username: string
  takesEmail: boolean
  providers: readonly { name: string; href: string }[]
  hasMail: boolean
}

export function passwordPage(
  given: SignInView,
  { username, takesEmail, providers, hasMail }: Form,
): Page {
  const { view, texts, nextHost, done, fault, hasPasskeys } = given
  // The user corrects the password, and a screen reader reads the sentence with the field.
  const isNamed = username !== ''
  const others = html`${hasPasskeys && html`<p hidden><button type="button" class="whole" data-passkey>${texts.withPasskey}</button></p>\n`}${providers.map(
    ({ name, href }) =>
      html`<p><a class="button whole" href="${href}">${texts.withProvider(name)}</a></p>\n`,
  )}`
  return framed(given, {
    title: texts.title,
    main: html`${nextHost !== undefined && html`<p class="hint">${texts.continueTo(nextHost)}</p>\n`}<p class="done" role="status">${done}</p>${faultOf(fault)}
<form method="post" action="${view.pages}sign-in" id="password-form">
<div class="field"><label for="username">${takesEmail ? texts.username : texts.usernameAlone}</label>
<input id="username" name="username" value="${username}" autocomplete="username${hasPasskeys && ' webauthn'}" autocapitalize="none" spellcheck="false" required maxlength="256"${!isNamed && html` autofocus`}></div>
<div class="field"><label for="password">${texts.password}</label>
<div class="with-eye"><input id="password" name="password" type="password" autocomplete="current-password" required maxlength="256"${fault !== undefined && html` aria-invalid="true" aria-describedby="fault"`}${isNamed && html` autofocus`}>
<button type="button" class="eye" hidden data-reveal aria-controls="password" aria-label="${texts.showPassword}" data-hide="${texts.hidePassword}"></button></div></div>
${returnToField(given)}<p><button type="submit" class="primary whole">${view.texts.signIn}</button></p>
</form>
${hasMail && html`<p class="centered"><a href="${view.pages}forgot">${texts.forgot}</a></p>\n`}${
  (hasPasskeys || providers.length > 0) &&
  html`<div class="others"${providers.length === 0 && html` hidden`}><p class="or">${texts.or}</p>\n${others}</div>`
}`,
  })
}

export type SecondStep = { challenge: string; factors: readonly string[]; username: string }

export function secondStepPage(
  given: SignInView,
  { challenge, factors, username }: SecondStep,
): Page {
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
${signOutForm(view)}`,
  })
}

/** `by`: as displayed. `canMail`: the service can mail the needed link. */
export type SetupDemand = {
  by: string
  setupOnly: boolean
  passkeyOnly: boolean
  needsLink: boolean
  canMail: boolean
}

export function setupPage(given: SignInView, user: string, demand: SetupDemand): Page {
  const { view, next, texts, done } = given
  const { setup } = texts
  const kind = demand.passkeyOnly ? setup.passkey : setup.any
  return framed(given, {
    title: setup.title,
    main: html`<p>${view.texts.signedInAs} <strong>${user}</strong></p>
<p class="done" role="status">${done}</p>
<p>${demand.setupOnly ? kind.now : kind.until.replace('#', demand.by)}</p>
${demand.needsLink ? linkStep(given, demand) : html`<p><a class="button primary whole" href="${view.pages}account#factors">${setup.start}</a></p>`}
${!demand.setupOnly && html`<p><a class="button whole" href="${next}">${setup.later}</a></p>\n`}${signOutForm(view)}`,
  })
}

function linkStep({ view, texts: { setup } }: SignInView, { canMail }: SetupDemand): Html {
  if (!canMail) return html`<p data-leads-to="${view.pages}account">${setup.link} ${setup.ask}</p>`
  return html`<p>${setup.link}</p>
<form class="leave" data-leads-to="${view.pages}account" method="post" action="${view.root}api/me/factors/link"><p><button type="submit" class="primary whole">${setup.send}</button></p></form>`
}

/** Without a connection, the script cannot load sentences. */
function framed(
  { view, texts, next }: SignInView,
  { title, main }: { title: string; main: Html },
): Page {
  return {
    title,
    current: 'sign-in',
    scripts: ['page-sign-in.js'],
    styles: ['sign-in.css'],
    main: html`<div id="sign-in" class="card narrow" data-root="${view.root}" data-next="${next}"
data-cookies-blocked="${texts.cookiesBlocked}" data-still-signed-out="${texts.stillSignedOut}" data-no-response="${texts.noResponse}"
data-passkey-not-used="${texts.passkeyNotUsed}" data-passkey-unknown="${texts.passkeyUnknown}" data-passkey-failed="${texts.passkeyFailed}" data-too-late="${texts.failures.UNAUTHORIZED}">
<p class="brand"><img src="${view.logo ?? view.file('favicon.svg')}" alt="" width="28" height="28">${view.name}</p>
<h1>${title}</h1>
${main}
</div>`,
  }
}

function signOutForm(view: View): Html {
  return html`<form class="sign-out leave" method="post" action="${view.pages}sign-out"><button type="submit" class="whole">${view.texts.signOut}</button></form>`
}

function faultOf(fault = ''): Html {
  return html`<p id="fault" class="fault" role="alert">${fault}</p>`
}

function returnToField({ returnTo }: SignInView): Html {
  return html`${returnTo !== undefined && html`<input type="hidden" name="return_to" value="${returnTo}">`}`
}
