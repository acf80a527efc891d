// `carillon-inbox/vue`: defines the elements, with types for templates of Vue 3, whose tools
// compare `sign-in-url` with `signInUrl`. If the page loads the script from Carillon, use `import
// type {} from 'carillon-inbox/vue'`.
import '../carillon-inbox.ts'
import type { HTMLAttributes, PublicProps } from 'vue'
import type { CarillonBell } from '../bell/carillon-bell.ts'
import type { CarillonInbox } from '../inbox/carillon-inbox.ts'
import type { BellProperties, InboxProperties, Listener } from './settings.ts'

type Component<Type, Properties> = new () => Type & {
  /** Read by Vue's tools alone; the element has no such property. */
  $props: HTMLAttributes &
    PublicProps &
    Properties & {
      onCarillonOpen?: Listener<'carillon-open'> | undefined
      onCarillonChange?: Listener<'carillon-change'> | undefined
    }
}

declare module 'vue' {
  interface GlobalComponents {
    'carillon-bell': Component<CarillonBell, BellProperties>
    'carillon-inbox': Component<CarillonInbox, InboxProperties>
  }
}
