"""The site: static pages made from round files, for any web server or none at all."""
