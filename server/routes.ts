// Every route, by tag. app.ts serves them, and openapi.json is made from them.
import * as activity from './audit/activity.routes.ts'
import * as byKey from './delivery/by-key.routes.ts'
import * as deliveries from './delivery/delivery.routes.ts'
import * as demonstrationPage from './demonstration/demonstration-page.routes.ts'
import * as factors from './factors/factors.routes.ts'
import * as passkeys from './factors/passkeys/passkeys.routes.ts'
import {
  fresh,
  inbox,
  longLived,
  longLivedUser,
  open,
  owner,
  producer,
  restricted,
  sender,
  setupFresh,
  setupOwner,
  setupUser,
  setupVisitor,
  token,
  unscopedVisitor,
  user,
  verified,
  visitor,
} from './guards/guards.ts'
import * as health from './http/health.routes.ts'
import { type NeedsOf, type Route, route, routesAt, type Tag } from './http/operation.ts'
import * as notifications from './inbox/inbox.routes.ts'
import * as inboxPage from './inbox/inbox-page.routes.ts'
import * as passwordPages from './links/password-pages.routes.ts'
import * as passwords from './links/passwords.routes.ts'
import * as live from './live/live.routes.ts'
import * as operatorAttacks from './operator/attacks.routes.ts'
import * as operatorKeys from './operator/keys.routes.ts'
import * as operatorNow from './operator/now.routes.ts'
import * as operatorNumbers from './operator/numbers.routes.ts'
import { freshOperator, operator } from './operator/operator.ts'
import * as operatorPage from './operator/operator-page.routes.ts'
import * as operatorOutbox from './operator/outbox.routes.ts'
import * as people from './operator/people.routes.ts'
import * as sent from './operator/sent.routes.ts'
import * as trail from './operator/trail.routes.ts'
import * as ownData from './own-data/export.routes.ts'
import * as docsPage from './pages/docs/docs.routes.ts'
import * as scripts from './pages/scripts.routes.ts'
import * as wellKnown from './pages/well-known.routes.ts'
import * as preferences from './preferences/preferences.routes.ts'
import * as providers from './providers/providers.routes.ts'
import * as pushes from './reach/push/subscriptions.routes.ts'
import * as unsubscribing from './reach/unread/unsubscribe.routes.ts'
import * as sessions from './sessions/sessions.routes.ts'
import * as tokens from './sessions/tokens.routes.ts'
import * as frontPage from './sign-in/front-page.routes.ts'
import * as signIn from './sign-in/sign-in.routes.ts'
import * as signInPages from './sign-in/sign-in-page.routes.ts'
import * as forward from './sign-in/verify.routes.ts'
import * as accountPage from './users/account-page.routes.ts'
import * as ownProfile from './users/own-profile.routes.ts'
import * as users from './users/users.routes.ts'
import * as webhooks from './webhooks/webhooks.routes.ts'

const keeper = producer('users')
const categoryKeeper = producer('send')
const listener = producer('webhooks')

const api = {
  'sign-in': {
    signIn: route('POST', '/login', open, signIn.login),
    requestPasskeyOptions: route(
      'POST',
      '/login/passkey/options',
      open,
      signIn.requestPasskeyOptions,
    ),
    signInWithPasskey: route('POST', '/login/passkey', open, signIn.loginWithPasskey),
    completeSignIn: route('POST', '/login/second-factor', open, signIn.complete),
    getRestricted: route('GET', '/routeRestreinte', restricted, signIn.restricted),
    signOut: route('POST', '/logout', open, signIn.logout),
    renewToken: route('POST', '/token/renew', token, tokens.renew),
    requestPasswordReset: route('POST', '/password/forgot', open, passwords.forgot),
    resetPassword: route('POST', '/password/reset', open, passwords.reset),
    readPasswordLink: route('POST', '/password/link', open, passwords.readLink),
    listProviders: route('GET', '/login/providers', open, providers.list),
    signInWith: route('GET', '/login/with/:provider', open, providers.start),
    beginSignInWith: route('POST', '/login/with/:provider/start', open, providers.startByForm),
    finishSignInWith: route('GET', '/login/with/:provider/callback', open, providers.callback),
    exchangeSignInCode: route('POST', '/login/with/:provider', open, providers.exchangeCode),
    changePassword: route('PUT', '/api/me/password', owner, passwords.change),
    getKeySet: route('GET', '/.well-known/jwks.json', open, tokens.keySet),
    getSession: route('GET', '/api/session', visitor, signIn.session),
    verifyRequest: route('GET', '/verify', verified, forward.verify),
    getMe: route('GET', '/api/me', inbox, ownProfile.me),
    createToken: route('POST', '/api/me/token', user, tokens.create),
    listActivity: route('GET', '/api/me/activity', user, activity.list),
    listSessions: route('GET', '/api/me/sessions', user, sessions.list),
    endOtherSessions: route('DELETE', '/api/me/sessions', fresh, sessions.endOthers),
    endSession: route('DELETE', '/api/me/sessions/:id', user, sessions.end),
    disownSession: route('POST', '/api/me/sessions/:id/disown', fresh, sessions.disown),
    createPasskeyOptions: route(
      'POST',
      '/api/me/factors/passkeys/options',
      setupFresh,
      passkeys.creationOptions,
    ),
    updateMe: route('PATCH', '/api/me', user, ownProfile.change),
    exportMe: route('GET', '/api/me/export', longLivedUser, ownData.exportAll),
    deleteMe: route('DELETE', '/api/me', fresh, ownProfile.erase),
    listProviderAccounts: route('GET', '/api/me/providers', user, providers.listAccounts),
    linkProviderAccount: route('POST', '/api/me/providers/:provider/link', fresh, providers.link),
    unlinkProviderAccount: route('DELETE', '/api/me/providers/:provider', fresh, providers.unlink),
    addPasskey: route('POST', '/api/me/factors/passkeys', setupFresh, passkeys.add),
    confirmSignIn: route('POST', '/api/me/confirm', setupOwner, signIn.confirm),
    listFactors: route('GET', '/api/me/factors', setupUser, factors.list),
    requestFactorLink: route('POST', '/api/me/factors/link', setupOwner, passwords.mailFactorLink),
    addTotp: route('POST', '/api/me/factors/totp', setupFresh, factors.startTotp),
    confirmTotp: route('POST', '/api/me/factors/totp/confirm', setupFresh, factors.endTotp),
    createRecoveryCodes: route(
      'POST',
      '/api/me/factors/recovery-codes',
      fresh,
      factors.recoveryCodes,
    ),
    removeFactor: route('DELETE', '/api/me/factors/:id', fresh, factors.remove),
  },
  inbox: {
    listNotifications: route('GET', '/api/notifications', inbox, notifications.list),
    countNotifications: route('GET', '/api/notifications/counts', inbox, notifications.counts),
    listChanges: route('GET', '/api/notifications/changes', longLived, live.changes),
    streamEvents: route('GET', '/api/notifications/stream', longLived, live.stream),
    getNotification: route('GET', '/api/notifications/:id', inbox, notifications.one),
    markRead: route('PATCH', '/api/notifications/:id/read', inbox, notifications.read),
    markUnread: route('PATCH', '/api/notifications/:id/unread', inbox, notifications.unread),
    markAllRead: route('POST', '/api/notifications/read-all', inbox, notifications.readAll),
    archiveNotification: route(
      'PATCH',
      '/api/notifications/:id/archive',
      inbox,
      notifications.archive,
    ),
    unarchiveNotification: route(
      'PATCH',
      '/api/notifications/:id/unarchive',
      inbox,
      notifications.unarchive,
    ),
    snoozeNotification: route(
      'PATCH',
      '/api/notifications/:id/snooze',
      inbox,
      notifications.snooze,
    ),
    deleteNotification: route('DELETE', '/api/notifications/:id', inbox, notifications.remove),
    archiveRead: route('POST', '/api/notifications/archive-read', inbox, notifications.archiveRead),
    markSeen: route('POST', '/api/notifications/seen', inbox, notifications.seen),
    undoBulkAction: route('POST', '/api/notifications/undo', inbox, notifications.undo),
    getPreferences: route('GET', '/api/me/preferences', inbox, preferences.get),
    changePreferences: route('PUT', '/api/me/preferences', inbox, preferences.put),
    listPushSubscriptions: route('GET', '/api/me/push-subscriptions', inbox, pushes.list),
    addPushSubscription: route('POST', '/api/me/push-subscriptions', inbox, pushes.add),
    removePushSubscription: route('DELETE', '/api/me/push-subscriptions/:id', inbox, pushes.remove),
    sendTestNotification: route('POST', '/api/me/test-notification', user, deliveries.sendTest),
  },
  producers: {
    sendNotification: route('POST', '/api/notifications', sender, deliveries.send),
    updateByKey: route('PATCH', '/api/notifications/by-key/:key', sender, byKey.update),
    removeByKey: route('DELETE', '/api/notifications/by-key/:key', sender, byKey.remove),
    resolveByKey: route('POST', '/api/notifications/by-key/:key/resolve', sender, byKey.resolve),
    declareCategory: route(
      'PUT',
      '/api/categories/:category',
      categoryKeeper,
      preferences.declareCategory,
    ),
    getCategory: route('GET', '/api/categories/:category', categoryKeeper, preferences.getCategory),
    addWebhook: route('POST', '/api/webhooks', listener, webhooks.add),
    listWebhooks: route('GET', '/api/webhooks', listener, webhooks.list),
    changeWebhook: route('PATCH', '/api/webhooks/:id', listener, webhooks.change),
    removeWebhook: route('DELETE', '/api/webhooks/:id', listener, webhooks.remove),
    readWebhookEvents: route('GET', '/api/webhooks/:id/events', listener, webhooks.events),
  },
  users: {
    issueUserToken: route('POST', '/api/users/:id/tokens', keeper, tokens.issue),
    revokeUserTokens: route('DELETE', '/api/users/:id/tokens', keeper, tokens.revoke),
    issueExternalUserToken: route(
      'POST',
      '/api/users/external/:externalId/tokens',
      keeper,
      tokens.issueExternal,
    ),
    revokeExternalUserTokens: route(
      'DELETE',
      '/api/users/external/:externalId/tokens',
      keeper,
      tokens.revokeExternal,
    ),
    endUserSessions: route('DELETE', '/api/users/:id/sessions', keeper, users.signOut),
    endExternalUserSessions: route(
      'DELETE',
      '/api/users/external/:externalId/sessions',
      keeper,
      users.signOutExternal,
    ),
    createUserLink: route('POST', '/api/users/:id/links', keeper, passwords.linkFor),
    createExternalUserLink: route(
      'POST',
      '/api/users/external/:externalId/links',
      keeper,
      passwords.linkForExternal,
    ),
    listUsers: route('GET', '/api/users', keeper, users.list),
    createUser: route('POST', '/api/users', keeper, users.create),
    putUsers: route('PUT', '/api/users', keeper, users.putMany),
    putExternalUser: route('PUT', '/api/users/external/:externalId', keeper, users.put),
    getExternalUser: route('GET', '/api/users/external/:externalId', keeper, users.oneExternal),
    updateExternalUser: route(
      'PATCH',
      '/api/users/external/:externalId',
      keeper,
      users.changeExternal,
    ),
    deleteExternalUser: route(
      'DELETE',
      '/api/users/external/:externalId',
      keeper,
      users.eraseExternal,
    ),
    getUser: route('GET', '/api/users/:id', keeper, users.one),
    updateUser: route('PATCH', '/api/users/:id', keeper, users.change),
    deleteUser: route('DELETE', '/api/users/:id', keeper, users.erase),
  },
  operator: {
    getServiceNow: route('GET', '/api/operator/now', operator, operatorNow.now),
    getNumbers: route('GET', '/api/operator/numbers', operator, operatorNumbers.numbers),
    searchUsers: route('GET', '/api/operator/users', operator, people.search),
    viewUser: route('GET', '/api/operator/users/:id', operator, people.one),
    eraseUser: route('DELETE', '/api/operator/users/:id', freshOperator, people.erase),
    endUserSignIns: route(
      'DELETE',
      '/api/operator/users/:id/sessions',
      freshOperator,
      people.endSignIns,
    ),
    resetUserFactors: route(
      'DELETE',
      '/api/operator/users/:id/factors',
      freshOperator,
      people.removeFactors,
    ),
    disableUser: route('POST', '/api/operator/users/:id/disable', freshOperator, people.disable),
    enableUser: route('POST', '/api/operator/users/:id/enable', freshOperator, people.enable),
    linkUser: route('POST', '/api/operator/users/:id/links', freshOperator, people.link),
    listAudit: route('GET', '/api/operator/audit', operator, trail.list),
    countAudit: route('GET', '/api/operator/audit/counts', operator, trail.counts),
    exportAudit: route('GET', '/api/operator/audit/export', operator, trail.exportLines),
    getAttacks: route('GET', '/api/operator/attacks', operator, operatorAttacks.attacks),
    listKeys: route('GET', '/api/operator/keys', operator, operatorKeys.list),
    createKey: route('POST', '/api/operator/keys', freshOperator, operatorKeys.create),
    rotateKey: route(
      'POST',
      '/api/operator/keys/:keyId/rotate',
      freshOperator,
      operatorKeys.rotate,
    ),
    revokeKey: route('DELETE', '/api/operator/keys/:keyId', freshOperator, operatorKeys.revoke),
    listOutbox: route('GET', '/api/operator/outbox', operator, operatorOutbox.list),
    retryOutbox: route('POST', '/api/operator/outbox/retry', freshOperator, operatorOutbox.retry),
    dropFromOutbox: route('DELETE', '/api/operator/outbox/:id', freshOperator, operatorOutbox.drop),
    countHeard: route('GET', '/api/operator/heard', operator, sent.heard),
    explainNotification: route('GET', '/api/operator/explain/:id', operator, sent.explain),
    findByKey: route('GET', '/api/operator/by-key/:key', operator, sent.byKey),
    withdrawByKey: route('DELETE', '/api/operator/by-key/:key', freshOperator, sent.withdraw),
  },
  scripts: {
    getInboxScript: route('GET', '/carillon-inbox.js', open, scripts.inboxScript),
    getClientScript: route('GET', '/carillon-client.js', open, scripts.clientScript),
    getPushWorker: route('GET', '/carillon-push.js', open, scripts.pushWorker),
    getScript: route('GET', '/carillon-scripts/:name', open, scripts.asset),
  },
  health: {
    getLiveness: route('GET', '/livez', open, health.live),
    getReadiness: route('GET', '/readyz', open, health.ready),
  },
  documentation: {
    getOpenApi: route('GET', '/openapi.json', open, docsPage.openApi),
    getDocs: route('GET', '/docs', visitor, docsPage.docs),
    getDocsStyle: route('GET', '/docs/style.css', open, docsPage.style),
  },
  pages: {
    getPageTheme: route('GET', '/carillon-theme.css', open, scripts.theme),
    getPageLogo: route('GET', '/carillon-logo', open, scripts.logo),
    getSecurityTxt: route('GET', '/.well-known/security.txt', open, wellKnown.securityTxt),
    getPasskeyEndpoints: route(
      'GET',
      '/.well-known/passkey-endpoints',
      open,
      wellKnown.passkeyEndpoints,
    ),
    getStart: route('GET', '/', unscopedVisitor, frontPage.front),
    getChangePassword: route(
      'GET',
      '/.well-known/change-password',
      open,
      accountPage.changePassword,
    ),
  },
}

/** The pages for browsers, below CARILLON_PAGES_PREFIX. */
const pages = {
  getSignInPage: route('GET', '/sign-in', setupVisitor, signInPages.signInPage),
  postSignIn: route('POST', '/sign-in', open, signInPages.signIn),
  postSignOut: route('POST', '/sign-out', open, signInPages.signOut),
  getDemonstrationPage: route(
    'GET',
    '/demonstration',
    unscopedVisitor,
    demonstrationPage.demonstration,
  ),
  getAccountPage: route('GET', '/account', setupVisitor, accountPage.account),
  getOperatorPage: route('GET', '/operator', unscopedVisitor, operatorPage.operator),
  getInboxPage: route('GET', '/inbox', unscopedVisitor, inboxPage.inbox),
  // As readers type them.
  getAccountFolder: route('GET', '/account/', setupVisitor, accountPage.account),
  getInboxFolder: route('GET', '/inbox/', unscopedVisitor, inboxPage.inbox),
  getResetPage: route('GET', '/reset', unscopedVisitor, passwordPages.resetPage),
  getInvitePage: route('GET', '/invite', unscopedVisitor, passwordPages.invitePage),
  getUnsubscribePage: route('GET', '/unsubscribe', unscopedVisitor, unsubscribing.page),
  postUnsubscribe: route('POST', '/unsubscribe', open, unsubscribing.oneClick),
  getForgotPage: route('GET', '/forgot', unscopedVisitor, passwordPages.forgotPage),
  postForgot: route('POST', '/forgot', open, passwordPages.forgot),
}

export type Parts = NeedsOf<typeof api> & NeedsOf<{ pages: typeof pages }>

export function routesWith(prefix: string): readonly Route<Parts>[] {
  return [...routesAt('', api), ...routesAt(prefix, { pages })]
}

const pageTags: ReadonlySet<Tag> = new Set(['pages', 'scripts', 'documentation'])

/** Leaves out the pages and what they load. */
export function apiOf(all: readonly Route<Parts>[]): readonly Route<Parts>[] {
  return all.filter(({ tag }) => !pageTags.has(tag))
}
