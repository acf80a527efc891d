// The route table: every route with its method, path, guard and operation. app.ts serves it, and openapi.json is made from it.
import {
  fresh,
  inbox,
  longLived,
  open,
  producer,
  restricted,
  sender,
  token,
  unscopedVisitor,
  user,
  verified,
  visitor,
} from './request/guards.ts'
import * as activity from './routes/account/activity.ts'
import * as confirmation from './routes/account/confirm.ts'
import * as factors from './routes/account/factors.ts'
import * as ownProfile from './routes/account/own-profile.ts'
import * as passwords from './routes/account/passwords.ts'
import * as providerAccounts from './routes/account/provider-accounts.ts'
import * as sessions from './routes/account/sessions.ts'
import * as deliveries from './routes/deliveries.ts'
import * as health from './routes/health.ts'
import * as live from './routes/live.ts'
import * as notifications from './routes/notifications.ts'
import { type Route, route } from './routes/operation.ts'
import * as accountPage from './routes/pages/account.ts'
import * as demonstrationPage from './routes/pages/demonstration.ts'
import * as docsPage from './routes/pages/docs.ts'
import * as forgotPages from './routes/pages/forgot.ts'
import * as frontPage from './routes/pages/front.ts'
import * as inboxPage from './routes/pages/inbox.ts'
import * as passwordPages from './routes/pages/password-pages.ts'
import * as signInPages from './routes/pages/sign-in.ts'
import * as signOutPage from './routes/pages/sign-out.ts'
import * as theme from './routes/pages/theme.ts'
import * as scripts from './routes/scripts.ts'
import * as passkeys from './routes/sign-in/passkeys.ts'
import * as providers from './routes/sign-in/providers.ts'
import * as secondFactor from './routes/sign-in/second-factor.ts'
import * as signIn from './routes/sign-in/sign-in.ts'
import * as tokens from './routes/sign-in/tokens.ts'
import * as forward from './routes/sign-in/verify.ts'
import * as users from './routes/users.ts'

/** The pages for browsers, below CARILLON_PAGES_PREFIX. */
const pages: readonly Route[] = [
  route('GET', '/sign-in', unscopedVisitor, signInPages.signInPage),
  route('POST', '/sign-in', open, signInPages.signIn),
  route('POST', '/sign-out', open, signOutPage.signOut),
  route('GET', '/demonstration', unscopedVisitor, demonstrationPage.demonstration),
  route('GET', '/account', unscopedVisitor, accountPage.account),
  route('GET', '/inbox', unscopedVisitor, inboxPage.inbox),
  route('GET', '/reset', unscopedVisitor, passwordPages.resetPage),
  route('GET', '/invite', unscopedVisitor, passwordPages.invitePage),
  route('GET', '/forgot', unscopedVisitor, forgotPages.forgotPage),
  route('POST', '/forgot', open, forgotPages.forgot),
]

/** Every route. `prefix`: '' or such as `/hello`. */
export function routesWith(prefix: string): readonly Route[] {
  const placed = pages.map(({ method, path, guard, operation }) => route(method, prefix + path, guard, operation))
  return [...api, ...placed]
}

const api: readonly Route[] = [
  route('POST', '/login', open, signIn.login),
  route('POST', '/login/passkey/options', open, passkeys.requestOptions),
  route('POST', '/login/passkey', open, passkeys.login),
  route('POST', '/login/second-factor', open, secondFactor.complete),
  route('GET', '/routeRestreinte', restricted, signIn.restricted),
  route('POST', '/logout', open, signIn.logout),
  route('POST', '/token/renew', token, tokens.renew),
  route('POST', '/password/forgot', open, passwords.forgot),
  route('POST', '/password/reset', open, passwords.reset),
  route('POST', '/password/link', open, passwords.readLink),
  route('GET', '/login/providers', open, providers.list),
  route('GET', '/login/with/:provider', open, providers.start),
  route('POST', '/login/with/:provider/start', open, providers.startByForm),
  route('GET', '/login/with/:provider/callback', open, providers.callback),
  route('POST', '/login/with/:provider', open, providers.exchangeCode),
  route('PUT', '/api/me/password', user, passwords.change),
  route('GET', '/.well-known/jwks.json', open, tokens.keySet),
  route('GET', '/api/session', visitor, signIn.session),
  route('GET', '/verify', verified, forward.verify),
  route('GET', '/api/me', inbox, signIn.me),
  route('POST', '/api/me/token', user, tokens.create),
  route('GET', '/api/me/activity', user, activity.list),
  route('GET', '/api/me/sessions', user, sessions.list),
  route('DELETE', '/api/me/sessions', fresh, sessions.endOthers),
  route('DELETE', '/api/me/sessions/:id', user, sessions.end),
  route('POST', '/api/me/sessions/:id/disown', fresh, sessions.disown),
  route('POST', '/api/me/factors/passkeys/options', fresh, passkeys.creationOptions),
  route('PATCH', '/api/me', user, ownProfile.change),
  route('GET', '/api/me/providers', user, providerAccounts.list),
  route('POST', '/api/me/providers/:provider/link', fresh, providerAccounts.link),
  route('DELETE', '/api/me/providers/:provider', fresh, providerAccounts.unlink),
  route('POST', '/api/me/factors/passkeys', fresh, passkeys.add),
  route('POST', '/api/me/confirm', user, confirmation.confirm),
  route('GET', '/api/me/factors', user, factors.list),
  route('POST', '/api/me/factors/totp', fresh, factors.startTotp),
  route('POST', '/api/me/factors/totp/confirm', fresh, factors.endTotp),
  route('POST', '/api/me/factors/recovery-codes', fresh, factors.recoveryCodes),
  route('DELETE', '/api/me/factors/:id', fresh, factors.remove),

  route('GET', '/api/notifications', inbox, notifications.list),
  route('GET', '/api/notifications/counts', inbox, notifications.counts),
  route('GET', '/api/notifications/changes', longLived, live.changes),
  route('GET', '/api/notifications/stream', longLived, live.stream),
  route('GET', '/api/notifications/:id', inbox, notifications.one),
  route('PATCH', '/api/notifications/:id/read', inbox, notifications.read),
  route('PATCH', '/api/notifications/:id/unread', inbox, notifications.unread),
  route('POST', '/api/notifications/read-all', inbox, notifications.readAll),
  route('POST', '/api/notifications/undo', inbox, notifications.undo),

  route('POST', '/api/notifications', sender, deliveries.send),

  route('POST', '/api/users/:id/tokens', producer('users'), tokens.issueById),
  route('DELETE', '/api/users/:id/tokens', producer('users'), tokens.revokeById),
  route('POST', '/api/users/external/:externalId/tokens', producer('users'), tokens.issueByExternalId),
  route('DELETE', '/api/users/external/:externalId/tokens', producer('users'), tokens.revokeByExternalId),
  route('POST', '/api/users/:id/links', producer('users'), passwords.linkById),
  route('POST', '/api/users/external/:externalId/links', producer('users'), passwords.linkByExternalId),
  route('GET', '/api/users', producer('users'), users.list),
  route('POST', '/api/users', producer('users'), users.create),
  route('PUT', '/api/users', producer('users'), users.putMany),
  route('PUT', '/api/users/external/:externalId', producer('users'), users.put),
  route('GET', '/api/users/external/:externalId', producer('users'), users.oneExternal),
  route('PATCH', '/api/users/external/:externalId', producer('users'), users.changeExternal),
  route('DELETE', '/api/users/external/:externalId', producer('users'), users.eraseExternal),
  route('GET', '/api/users/:id', producer('users'), users.one),
  route('PATCH', '/api/users/:id', producer('users'), users.change),
  route('DELETE', '/api/users/:id', producer('users'), users.erase),

  route('GET', '/carillon-inbox.js', open, scripts.inboxScript),
  route('GET', '/carillon-client.js', open, scripts.clientScript),
  route('GET', '/carillon-scripts/:name', open, scripts.asset),
  route('GET', '/carillon-theme.css', open, theme.theme),
  route('GET', '/carillon-logo', open, theme.logo),

  route('GET', '/livez', open, health.live),
  route('GET', '/readyz', open, health.ready),
  route('GET', '/openapi.json', open, docsPage.openApi),
  route('GET', '/', unscopedVisitor, frontPage.front),
  route('GET', '/docs', visitor, docsPage.docs),
  route('GET', '/docs/style.css', open, docsPage.style),
]

export const routes = routesWith('')
