// The script of the account page.
import { LitElement } from 'lit'

document.querySelector('.not-started')?.remove()
void LitElement
