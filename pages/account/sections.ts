// Which sections does the account page have, and in which order? A section has an anchor, such as account#password.
import { html, type TemplateResult } from 'lit'
import type { Account } from './account-section.ts'
import { ActivitySection } from './security/activity-section.ts'
import { AddApp } from './security/add-app.ts'
import { AddPasskey } from './security/add-passkey.ts'
import { FactorsSection } from './security/factors-section.ts'
import { ProvidersSection } from './security/providers-section.ts'
import { QuestionDialog } from './security/question-dialog.ts'
import { RecoveryCodes } from './security/recovery-codes.ts'
import { SessionsSection } from './security/sessions-section.ts'
import { DataSection } from './self/data-section.ts'
import { NotificationsSection } from './self/notifications-section.ts'
import { PasswordSection } from './self/password-section.ts'
import { PreferencesSection } from './self/preferences-section.ts'
import { ProfileSection } from './self/profile-section.ts'

/** The texts of the page have the title of each, under its id. */
type Section = {
  id: 'profile' | 'password' | 'factors' | 'sessions' | 'notifications' | 'preferences' | 'activity' | 'data'
  view: (account: Account) => TemplateResult
}

export const sections: readonly Section[] = [
  { id: 'profile', view: (account) => html`<account-profile .account=${account}></account-profile>` },
  { id: 'password', view: (account) => html`<account-password .account=${account}></account-password>` },
  {
    id: 'factors',
    view: (account) => html`<account-factors .account=${account}></account-factors>
<account-providers .account=${account}></account-providers>`,
  },
  { id: 'sessions', view: (account) => html`<account-sessions .account=${account}></account-sessions>` },
  { id: 'notifications', view: (account) => html`<account-notifications .account=${account}></account-notifications>` },
  { id: 'preferences', view: (account) => html`<account-preferences .account=${account}></account-preferences>` },
  { id: 'activity', view: (account) => html`<account-activity .account=${account}></account-activity>` },
  { id: 'data', view: (account) => html`<account-data .account=${account}></account-data>` },
]

customElements.define('account-profile', ProfileSection)
customElements.define('account-password', PasswordSection)
customElements.define('account-notifications', NotificationsSection)
customElements.define('account-preferences', PreferencesSection)
customElements.define('account-factors', FactorsSection)
customElements.define('account-providers', ProvidersSection)
customElements.define('account-sessions', SessionsSection)
customElements.define('account-activity', ActivitySection)
customElements.define('account-data', DataSection)
customElements.define('add-app', AddApp)
customElements.define('add-passkey', AddPasskey)
customElements.define('question-dialog', QuestionDialog)
customElements.define('recovery-codes', RecoveryCodes)
