// Which sections does the account page have, and in which order? A section has an anchor, such as account#password.
import { html } from 'lit'
import type { Account } from './account-section.ts'
import { ActivitySection } from './security/activity-section.ts'
import { AddApp } from './security/add-app.ts'
import { AddPasskey } from './security/add-passkey.ts'
import { FactorsSection } from './security/factors-section.ts'
import { ProvidersSection } from './security/providers-section.ts'
import { RecoveryCodes } from './security/recovery-codes.ts'
import { SessionsSection } from './security/sessions-section.ts'
import { DataSection } from './self/data-section.ts'
import { NotificationsSection } from './self/notifications-section.ts'
import { PasswordSection } from './self/password-section.ts'
import { PreferencesSection } from './self/preferences-section.ts'
import { ProfileSection } from './self/profile-section.ts'

/** By their ids, under which the texts of the page have their titles. */
export const sections = {
  profile: (account: Account) => html`<account-profile .account=${account}></account-profile>`,
  password: (account: Account) => html`<account-password .account=${account}></account-password>`,
  factors: (account: Account) => html`<account-factors .account=${account}></account-factors>
<account-providers .account=${account}></account-providers>`,
  sessions: (account: Account) => html`<account-sessions .account=${account}></account-sessions>`,
  notifications: (account: Account) => html`<account-notifications .account=${account}></account-notifications>`,
  preferences: (account: Account) => html`<account-preferences .account=${account}></account-preferences>`,
  activity: (account: Account) => html`<account-activity .account=${account}></account-activity>`,
  data: (account: Account) => html`<account-data .account=${account}></account-data>`,
}
export const sectionIds = Object.keys(sections) as (keyof typeof sections)[]

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
customElements.define('recovery-codes', RecoveryCodes)
