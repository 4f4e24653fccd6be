# The machines of a small observatory.
terraform {
  required_version = ">= 1.6"

  required_providers {
    sky = {
      source  = "example/sky"
      version = "~> 4.2"
    }
  }

  backend "file" {}
}

provider "sky" {
  region = var.region
}

variable "region" {
  type        = string
  default     = "north-1"
  description = "Where the domes stand"

  validation {
    condition     = length(var.region) > 3
    error_message = "The region \"${var.region}\" is too short."
  }
}

variable "domes" {
  type    = map(object({ size = number, tags = list(string) }))
  default = {}
}

locals {
  names   = [for name, dome in var.domes : upper(name) if dome.size > 1]
  by_size = { for name, dome in var.domes : name => dome.size }
  prefix  = "obs-${var.region}"
  enabled = length(local.names) > 0 && !var.paused
  ratio   = (2 + 3) * 4 / 5 - 1
  nothing = null
  ports   = [80, 443, 8080,]
  first   = var.domes["a"].tags[0]
  all     = sky_dome.main[*].id
  tags = {
    Team    = "night"
    "Cost"  = 12.5,
    (local.prefix) = true
  }
}

data "sky_image" "base" {
  most_recent = true

  filter {
    name   = "name"
    values = ["base-*", "core-*"]
  }
}

resource "sky_dome" "main" {
  for_each = var.domes
  name     = "${local.prefix}-${each.key}"
  image    = data.sky_image.base.id
  size     = each.value.size >= 4 ? "large" : "small"
  tags     = merge(local.tags, { Name = each.key })

  dynamic "port" {
    for_each = local.ports
    content {
      number = port.value
      open   = port.value == 443
    }
  }

  script = <<-EOT
    #!/bin/sh
    echo "${each.key}"
    start --size ${each.value.size}
  EOT

  lifecycle {
    create_before_destroy = true
    ignore_changes        = [tags, image]
  }
}

module "network" {
  source = "./network"
  cidr   = cidrsubnet("10.0.0.0/16", 8, 2)
  names  = concat(local.names, ["spare"]...)
}

/* What others read. */
output "dome_ids" {
  value     = { for k, d in sky_dome.main : k => d.id... }
  sensitive = false
}

// The end.
output "summary" {
  value = "domes: ${join(", ", local.names)}"
}
