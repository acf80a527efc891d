// `carillon-inbox/svelte`: defines the elements, with types for Svelte 5. If the page loads the
// script from Carillon, use `import type {} from 'carillon-inbox/svelte'`.
import '../carillon-inbox.ts'
import type { HTMLAttributes } from 'svelte/elements'
import type { CarillonBell } from '../bell/carillon-bell.ts'
import type { CarillonInbox } from '../inbox/carillon-inbox.ts'
import type { BellProperties, DashedAttributes, InboxProperties } from './settings.ts'

type Props<Type extends EventTarget, Properties> = HTMLAttributes<Type> &
  Properties &
  DashedAttributes

declare module 'svelte/elements' {
  interface SvelteHTMLElements {
    'carillon-bell': Props<CarillonBell, BellProperties>
    'carillon-inbox': Props<CarillonInbox, InboxProperties>
  }
}
